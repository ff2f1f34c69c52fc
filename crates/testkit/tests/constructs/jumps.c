#include <setjmp.h>

static jmp_buf env;

static int parse(int x, int y)
{
    if (x == 99)
        longjmp(env, y & 3);
    return x > y;
}

int f(int x, int y, const int *a)
{
    int code = setjmp(env);
    if (code == 0)
        return parse(x, y) + parse(a[0], x);
    if (code == 3 && y > 100)
        return 10;
    return code == 1 ? 20 : 30;
}
