/* Multiplies matrices of floats. */

#define N 60

static double a[N][N], b[N][N], c[N][N];

static void multiply(double (*x)[N], double (*y)[N], double (*z)[N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0.0;
            for (int k = 0; k < N; k++)
                sum += x[i][k] * y[k][j];
            z[i][j] = sum;
        }
}

unsigned long bench(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = (double)(i + 1) / (double)(j + 1);
            b[i][j] = (double)(i - j) * 0.5;
        }
    double trace = 0.0;
    for (int round = 0; round < 4; round++) {
        multiply(a, b, c);
        multiply(c, a, b);
        for (int i = 0; i < N; i++) {
            trace += c[i][i];
            for (int j = 0; j < N; j++)
                b[i][j] = b[i][j] / 1e4;
        }
    }
    return (unsigned long)(trace < 0.0 ? -trace : trace);
}
