int f(int);
void trace(const char *, ...);

int switches(int a, unsigned char c)
{
    int n = 0;
    switch (a) {
    case 1:
    case 2:
        n = 1;
        break;
    case 3:
        n = 2;
        /* fall through */
    default:
        n += 3;
        break;
    case 10 ... 20:
        return c;
    }
    switch (c) {
        int x;
    case 'a':
        x = 4;
        return x;
    }
    return n;
}

int duff(char *to, const char *from, int count)
{
    int n = (count + 3) / 4;
    switch (count % 4) {
    case 0:
        do {
            *to++ = *from++;
    case 3:
            *to++ = *from++;
    case 2:
            *to++ = *from++;
    case 1:
            *to++ = *from++;
        } while (--n > 0);
    }
    return n;
}

int loops(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (i == 3)
            continue;
        if (i > 100)
            break;
        sum += i;
    }
    int j;
    for (j = 0;; j += 2)
        if (j > n)
            break;
        else
            sum--;
    do
        sum++;
    while (sum < 0);
    for (;;) {
    }
}

int gotos(int n)
{
    int *q;
    {
        int block[4];
        q = block;
        q[0] = n;
    again:
        if (n-- > 0)
            goto again;
        if (n < -5)
            goto out;
        trace("%d\n", q[0]);
    }
    return 1;
out:
    return 2;
    n = 3;
}

int label_comments(int n)
{
    lydian_label("small", n < 3 && n);
    if (n)
        lydian_label("other", n == 4);
    return n;
}

int bad_label(int n)
{
    lydian_label("bad", n++ > 3);
    return n;
}

int fallen(int n)
{
    if (n)
        return 1;
}

struct s { int a[4]; };

int with_asm(int n)
{
    __asm__("nop");
    return n;
}

int with_vla(int n)
{
    int a[n];
    return a[0];
}
