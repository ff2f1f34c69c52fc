/* Small: days of a month. */
#include "input.h"

static int is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_of(int year, int month)
{
    switch (month) {
    case 2:
        return is_leap(year) ? 29 : 28;
    case 4:
    case 6:
    case 9:
    case 11:
        return 30;
    default:
        return month >= 1 && month <= 12 ? 31 : -1;
    }
}

int main(void)
{
    int year, month;

    INPUT(year);
    INPUT(month);
    return days_of(year, month);
}
