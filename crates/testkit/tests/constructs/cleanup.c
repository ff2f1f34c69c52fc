static void add(int *p) { *p += 100; }

static int noted;

static void note(int *p) { noted = *p; }

static int leaves(int x, int y)
{
    __attribute__((cleanup(note))) int at = x;
    if (x > 10)
        return at + y;
    for (int i = 0; i < 3; i++) {
        __attribute__((cleanup(add))) int inner = i;
        if (i == x)
            break;
        at += inner;
    }
    return at;
}

int f(int x, int y, const int *a)
{
    int got = leaves(x, y);
    if (noted == 12 && got == 50)
        return 1;
    return got == a[0] && noted != got ? 2 : 3;
}
