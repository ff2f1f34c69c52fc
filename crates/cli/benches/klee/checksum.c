/* Numbers with check digits: a card number with blanks, by doubling every other digit. */
#include "input.h"

#ifndef LENGTH
#define LENGTH 8
#endif

enum { TOO_SHORT = -1, BAD_CHARACTER = -2, WRONG_DIGIT = -3 };

static int doubled(int digit)
{
    digit *= 2;
    return digit > 9 ? digit - 9 : digit;
}

static int check_card(const char *text, int length)
{
    int sum = 0, digits = 0;

    for (int i = length - 1; i >= 0; i--) {
        int digit = text[i] - '0';

        if (text[i] == ' ' || text[i] == '-')
            continue;
        if (digit < 0 || digit > 9)
            return BAD_CHARACTER;
        sum += digits % 2 ? doubled(digit) : digit;
        digits++;
    }
    if (digits < 4)
        return TOO_SHORT;
    return sum % 10 == 0 ? digits : WRONG_DIGIT;
}

int main(void)
{
    char text[LENGTH];

    INPUT(text);
    return check_card(text, LENGTH);
}
