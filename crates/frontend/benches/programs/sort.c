/* Sorts arrays of numbers by quicksort with a comparison through a pointer, and by insertion. */

typedef int (*compare)(const void *, const void *);

static unsigned seed = 12345;

static unsigned next(void)
{
    seed = seed * 1103515245u + 12345u;
    return seed >> 8;
}

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

static void quick(int *a, long low, long high, compare less)
{
    while (low < high) {
        int pivot = a[(low + high) / 2];
        long i = low, j = high;
        while (i <= j) {
            while (less(&a[i], &pivot) < 0)
                i++;
            while (less(&pivot, &a[j]) < 0)
                j--;
            if (i <= j) {
                int t = a[i];
                a[i] = a[j];
                a[j] = t;
                i++;
                j--;
            }
        }
        if (j - low < high - i) {
            quick(a, low, j, less);
            low = i;
        } else {
            quick(a, i, high, less);
            high = j;
        }
    }
}

static void insertion(int *a, int n)
{
    for (int i = 1; i < n; i++) {
        int x = a[i], j = i - 1;
        while (j >= 0 && a[j] > x) {
            a[j + 1] = a[j];
            j--;
        }
        a[j + 1] = x;
    }
}

#define N 20000
static int numbers[N];

unsigned long bench(void)
{
    unsigned long sum = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++)
            numbers[i] = (int)(next() % 1000000);
        quick(numbers, 0, N - 1, ascending);
        for (int i = 0; i < N; i++)
            sum = sum * 31 + (unsigned long)numbers[i];
        for (int i = 0; i < 1000; i++)
            numbers[i] = (int)(next() % 1000000);
        insertion(numbers, 1000);
        for (int i = 0; i < 1000; i++)
            sum = sum * 31 + (unsigned long)numbers[i];
    }
    return sum;
}
