/* Time, in UTC and the C locale. */
#include "internal.h"
#include <sys/time.h>

time_t time(time_t *to) {
    time_t now = __lydian_time();
    if (to) *to = now;
    return now;
}
clock_t clock(void) { return __lydian_clock(); }
double difftime(time_t a, time_t b) { return (double)a - (double)b; }
int gettimeofday(struct timeval *to, void *zone) {
    (void)zone;
    to->tv_sec = __lydian_time();
    to->tv_usec = 0;
    return 0;
}
int clock_gettime(clockid_t id, struct timespec *to) {
    if (id == CLOCK_REALTIME) {
        to->tv_sec = __lydian_time();
        to->tv_nsec = 0;
        return 0;
    }
    long now = __lydian_clock();
    to->tv_sec = now / CLOCKS_PER_SEC;
    to->tv_nsec = now % CLOCKS_PER_SEC * (1000000000 / CLOCKS_PER_SEC);
    return 0;
}
int timespec_get(struct timespec *to, int base) {
    return base == TIME_UTC && !clock_gettime(CLOCK_REALTIME, to) ? base : 0;
}

long timezone;
int daylight;
char *tzname[2] = {"UTC", "UTC"};
void tzset(void) {}

static long floor_divide(long a, long b) { return a / b - (a % b < 0); }
static int is_leap(long year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

/* Days from 1970-01-01 to the first of a month (from 0) of a year. Years begin in March here, so
   that the leap day is the last one of a year. */
static long days_before(long year, long month) {
    year += floor_divide(month, 12);
    month -= 12 * floor_divide(month, 12);
    if (month < 2) {
        year--;
        month += 12;
    }
    long leap_days = floor_divide(year, 4) - floor_divide(year, 100) + floor_divide(year, 400);
    return 365 * year + leap_days + (153 * (month - 2) + 2) / 5 - 719468;
}

struct tm *gmtime_r(const time_t *time, struct tm *to) {
    long days = floor_divide(*time, 86400), seconds = *time - 86400 * days;
    /* The calendar repeats every 400 years; within them years are at least 365 days long. */
    long cycles = floor_divide(days, 146097);
    long year = 1970 + 400 * cycles + (days - 146097 * cycles) / 365;
    while (days_before(year, 0) > days) year--;
    if (year - 1900 > INT_MAX || year - 1900 < INT_MIN) {
        errno = EOVERFLOW;
        return NULL;
    }
    int month = 11;
    while (days_before(year, month) > days) month--;
    memset(to, 0, sizeof *to);
    to->tm_sec = (int)(seconds % 60);
    to->tm_min = (int)(seconds / 60 % 60);
    to->tm_hour = (int)(seconds / 3600);
    to->tm_mday = (int)(days - days_before(year, month)) + 1;
    to->tm_mon = month;
    to->tm_year = (int)(year - 1900);
    to->tm_yday = (int)(days - days_before(year, 0));
    to->tm_wday = (int)(days + 4 - 7 * floor_divide(days + 4, 7));
    to->tm_zone = "GMT";
    return to;
}
struct tm *localtime_r(const time_t *time, struct tm *to) {
    struct tm *result = gmtime_r(time, to);
    if (result) result->tm_zone = "UTC";
    return result;
}
static struct tm shared_time;
struct tm *gmtime(const time_t *time) { return gmtime_r(time, &shared_time); }
struct tm *localtime(const time_t *time) { return localtime_r(time, &shared_time); }

time_t timegm(struct tm *of) {
    long days = days_before(of->tm_year + 1900L, of->tm_mon) + of->tm_mday - 1;
    time_t time = 86400 * days + 3600L * of->tm_hour + 60L * of->tm_min + of->tm_sec;
    gmtime_r(&time, of);
    return time;
}
time_t mktime(struct tm *of) {
    time_t time = timegm(of);
    of->tm_zone = "UTC";
    return time;
}

static const char *const day_names[] = {"Sunday", "Monday", "Tuesday", "Wednesday",
                                        "Thursday", "Friday", "Saturday"};
static const char *const month_names[] = {"January", "February", "March", "April",
                                          "May", "June", "July", "August",
                                          "September", "October", "November", "December"};

static const char *name_in(const char *const *names, int index, int count) {
    return index >= 0 && index < count ? names[index] : "?";
}

char *asctime_r(const struct tm *of, char *to) {
    sprintf(to, "%.3s %.3s%3d %.2d:%.2d:%.2d %ld\n", name_in(day_names, of->tm_wday, 7),
            name_in(month_names, of->tm_mon, 12), of->tm_mday, of->tm_hour, of->tm_min, of->tm_sec,
            1900L + of->tm_year);
    return to;
}
char *asctime(const struct tm *of) {
    static char text[64];
    return asctime_r(of, text);
}
char *ctime_r(const time_t *time, char *to) {
    struct tm of;
    return localtime_r(time, &of) ? asctime_r(&of, to) : NULL;
}
char *ctime(const time_t *time) {
    static char text[64];
    return ctime_r(time, text);
}

/* The ISO 8601 week, and the year that it belongs to. */
static int iso_week(const struct tm *of, long *year) {
    *year = of->tm_year + 1900L;
    int week = (of->tm_yday + 10 - (of->tm_wday + 6) % 7) / 7;
    if (week == 0) {
        --*year;
        int last = of->tm_yday + (is_leap(*year) ? 366 : 365);
        return (last + 10 - (of->tm_wday + 6) % 7) / 7;
    }
    if (week == 53) {
        int days = is_leap(*year) ? 366 : 365;
        /* The Thursday of that week decides. */
        if (of->tm_yday - (of->tm_wday + 6) % 7 + 3 >= days) {
            ++*year;
            return 1;
        }
    }
    return week;
}

/* A number of at least `width` digits, filled as the flag says. */
static int put_number(char *to, long value, int width, char fill, char flag) {
    if (flag == '_') fill = ' ';
    if (flag == '0') fill = '0';
    if (flag == '-') return sprintf(to, "%ld", value);
    return sprintf(to, fill == '0' ? "%0*ld" : "%*ld", width, value);
}

static int hour12(const struct tm *of) { return of->tm_hour % 12 ? of->tm_hour % 12 : 12; }

/* What one conversion of strftime writes. */
static int time_field(char *to, char conversion, char flag, const struct tm *of) {
    struct tm copy = *of;
    long year = of->tm_year + 1900L;
    switch (conversion) {
    case 'a': return sprintf(to, "%.3s", name_in(day_names, of->tm_wday, 7));
    case 'A': return sprintf(to, "%s", name_in(day_names, of->tm_wday, 7));
    case 'b': case 'h': return sprintf(to, "%.3s", name_in(month_names, of->tm_mon, 12));
    case 'B': return sprintf(to, "%s", name_in(month_names, of->tm_mon, 12));
    case 'c': return (int)strftime(to, 100, "%a %b %e %H:%M:%S %Y", of);
    case 'C': return put_number(to, floor_divide(year, 100), 1, '0', flag);
    case 'd': return put_number(to, of->tm_mday, 2, '0', flag);
    case 'D': case 'x': return (int)strftime(to, 100, "%m/%d/%y", of);
    case 'e': return put_number(to, of->tm_mday, 2, ' ', flag);
    case 'F': return (int)strftime(to, 100, "%Y-%m-%d", of);
    case 'g':
        iso_week(of, &year);
        return put_number(to, year - 100 * floor_divide(year, 100), 2, '0', flag);
    case 'G':
        iso_week(of, &year);
        return put_number(to, year, 1, '0', flag);
    case 'H': return put_number(to, of->tm_hour, 2, '0', flag);
    case 'I': return put_number(to, hour12(of), 2, '0', flag);
    case 'j': return put_number(to, of->tm_yday + 1, 3, '0', flag);
    case 'k': return put_number(to, of->tm_hour, 2, ' ', flag);
    case 'l': return put_number(to, hour12(of), 2, ' ', flag);
    case 'm': return put_number(to, of->tm_mon + 1, 2, '0', flag);
    case 'M': return put_number(to, of->tm_min, 2, '0', flag);
    case 'n': return sprintf(to, "\n");
    case 'p': return sprintf(to, of->tm_hour < 12 ? "AM" : "PM");
    case 'P': return sprintf(to, of->tm_hour < 12 ? "am" : "pm");
    case 'r': return (int)strftime(to, 100, "%I:%M:%S %p", of);
    case 'R': return (int)strftime(to, 100, "%H:%M", of);
    case 's': return sprintf(to, "%ld", (long)timegm(&copy));
    case 'S': return put_number(to, of->tm_sec, 2, '0', flag);
    case 't': return sprintf(to, "\t");
    case 'T': case 'X': return (int)strftime(to, 100, "%H:%M:%S", of);
    case 'u': return sprintf(to, "%d", of->tm_wday ? of->tm_wday : 7);
    case 'U': return put_number(to, (of->tm_yday + 7 - of->tm_wday) / 7, 2, '0', flag);
    case 'V': return put_number(to, iso_week(of, &year), 2, '0', flag);
    case 'w': return sprintf(to, "%d", of->tm_wday);
    case 'W': return put_number(to, (of->tm_yday + 7 - (of->tm_wday + 6) % 7) / 7, 2, '0', flag);
    case 'y': return put_number(to, year - 100 * floor_divide(year, 100), 2, '0', flag);
    case 'Y': return put_number(to, year, 1, '0', flag);
    case 'z': return sprintf(to, "+0000");
    case 'Z': return sprintf(to, "%s", of->tm_zone ? of->tm_zone : "");
    case '%': return sprintf(to, "%%");
    }
    return -1;
}

size_t strftime(char *to, size_t size, const char *format, const struct tm *of) {
    size_t length = 0;
    for (const char *at = format; *at; at++) {
        char field[128];
        int count = 1;
        field[0] = *at;
        if (*at == '%') {
            const char *start = at++;
            char flag = 0;
            while (*at == '-' || *at == '_' || *at == '0' || *at == '^' || *at == '#') flag = *at++;
            while (*at == 'E' || *at == 'O') at++;
            count = time_field(field, *at, flag, of);
            if (count < 0) {
                /* No conversion: it stands for itself. */
                at = start;
                count = 1;
                field[0] = '%';
            }
            if (flag == '^')
                for (int i = 0; i < count; i++)
                    if (field[i] >= 'a' && field[i] <= 'z') field[i] -= 32;
        }
        if (length + (size_t)count >= size) return 0;
        memcpy(to + length, field, (size_t)count);
        length += (size_t)count;
    }
    if (!size) return 0;
    to[length] = 0;
    return length;
}

int nanosleep(const struct timespec *wanted, struct timespec *left) {
    (void)wanted;
    if (left) left->tv_sec = left->tv_nsec = 0;
    return 0;
}
unsigned sleep(unsigned seconds) {
    (void)seconds;
    return 0;
}
int usleep(useconds_t microseconds) {
    (void)microseconds;
    return 0;
}
