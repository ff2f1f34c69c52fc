int f(int x, int y, const int *a)
{
    static void *const table[] = {&&stop, &&add, &&half, &&skip};
    int at = 0, acc = x;
#define NEXT if (at > 2) return acc; goto *table[a[at++] & 3]
    NEXT;
add:
    acc += y;
    NEXT;
half:
    if (acc & 1)
        return 7;
    acc /= 2;
    NEXT;
skip:
    at++;
    NEXT;
stop:
    return acc == 4242 ? 1 : 2;
}
