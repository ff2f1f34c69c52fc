/* Dates over the years, and all of strftime's conversions. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "random.h"

int main(void) {
    for (int i = 0; i < 300; i++) {
        time_t time = (long)any() >> below(50);
        time %= 60000000000000000;
        struct tm of;
        if (!gmtime_r(&time, &of)) return 1;
        printf("%ld: %d %d %d %d %d %d %d %d\n", time, of.tm_year, of.tm_mon, of.tm_mday, of.tm_hour,
               of.tm_min, of.tm_sec, of.tm_wday, of.tm_yday);
        char text[500];
        size_t length = strftime(text, sizeof text,
                                 "%a %A %b %B %c %C %d %D %e %F %g %G %h %H %I %j %k %l %m %M %n "
                                 "%p %P %r %R %s %S %t %T %u %U %V %w %W %x %X %y %Y %z %Z %% %-d "
                                 "%_d %^a %Q",
                                 &of);
        printf("%zu %s\n%ld\n", length, text, (long)timegm(&of));
        if (of.tm_year < 8000 && of.tm_year > -900) printf("%s", asctime(&of));
        of.tm_mon += (int)below(40) - 20;
        of.tm_mday += (int)below(100) - 50;
        of.tm_sec += (int)below(100000);
        time_t moved = mktime(&of);
        printf("%ld %d %d\n", (long)moved, of.tm_mday, of.tm_wday);
    }
    return 0;
}
