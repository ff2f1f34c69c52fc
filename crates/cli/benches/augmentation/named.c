/* Functions after the names of [004] Table 1, written anew. */

unsigned factorial(unsigned n)
{
    unsigned product = 1;
    if (n > 12)
        return 0;
    while (n > 1) {
        product *= n;
        n--;
    }
    return product;
}

int power(int base, int exponent)
{
    unsigned result = 1;
    if (exponent < 0)
        return 0;
    while (exponent > 0) {
        if (exponent % 2 == 1)
            result = result * (unsigned)base;
        base = (int)((unsigned)base * (unsigned)base);
        exponent = exponent / 2;
    }
    return (int)result;
}

int max_value(int a, int b, int c, int d)
{
    int values[4] = { a, b, c, d };
    int best = values[0];
    for (int i = 1; i < 4; i++)
        if (values[i] > best)
            best = values[i];
    return best;
}

int fibonacci(int n)
{
    int last = 0, next = 1;
    if (n < 0 || n > 40)
        return -1;
    for (int i = 0; i < n; i++) {
        int sum = last + next;
        last = next;
        next = sum;
    }
    return last;
}

int gcd(int a, int b)
{
    if (a < 0)
        a = -(a + 1);
    if (b < 0)
        b = -(b + 1);
    while (b != 0) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* One step of a wheel brake system: the pedal, whether braking is automatic, whether the wheel skids;
 * the state of the system. The result has the pressure and the new state. */
int wheel_brake(int pedal, int automatic, int skid, int mode)
{
    int command, pressure, next;
    if (pedal == 0)
        command = 0;
    else if (pedal == 1)
        command = 1;
    else if (pedal == 2)
        command = 2;
    else if (pedal == 3)
        command = 3;
    else if (pedal == 4)
        command = 4;
    else
        command = 0;
    if (automatic && command == 0)
        command = 2;
    if (mode == 0) {
        if (skid && command > 0)
            next = 1;
        else
            next = 0;
    } else if (mode == 1) {
        if (!skid || command == 0)
            next = 0;
        else
            next = 2;
    } else {
        if (automatic || skid)
            next = 2;
        else
            next = 0;
    }
    if (next == 0)
        pressure = command * 10;
    else if (next == 1)
        pressure = command * 5 + 1;
    else
        pressure = command > 3 ? 3 : command;
    return pressure * 4 + next;
}

int find_middle(int x, int y, int z)
{
    int middle = z;
    if (y < z) {
        if (x < y)
            middle = y;
        else if (x < z)
            middle = x;
    } else {
        if (x > y)
            middle = y;
        else if (x > z)
            middle = x;
    }
    return middle;
}

int wrap_inc(int n)
{
    if (n >= 10)
        return 0;
    return n + 1;
}

int remainder_of(int a, int b)
{
    int sign = 1, rest;
    if (b == 0)
        return -1;
    if (a < -1000 || a > 1000 || b < -1000 || b > 1000)
        return -2;
    if (a < 0) {
        sign = -1;
        a = -a;
    }
    if (b < 0)
        b = -b;
    rest = a;
    while (rest >= b)
        rest = rest - b;
    return sign * rest;
}

int to_octal(int n)
{
    int result = 0, place = 1;
    if (n < 0 || n > 100000)
        return -1;
    while (n != 0) {
        result = result + (n % 8) * place;
        n = n / 8;
        place = place * 10;
    }
    return result;
}

/* The hexadecimal digits of n, as ASCII characters in a number, the last digit lowest. */
unsigned long to_hex(unsigned n)
{
    unsigned long text = 0;
    unsigned shift = 0;
    do {
        unsigned digit = n % 16, character;
        if (digit < 10)
            character = '0' + digit;
        else if (digit == 10)
            character = 'A';
        else if (digit == 11)
            character = 'B';
        else if (digit == 12)
            character = 'C';
        else if (digit == 13)
            character = 'D';
        else if (digit == 14)
            character = 'E';
        else
            character = 'F';
        text |= (unsigned long)character << shift;
        shift += 8;
        n = n / 16;
    } while (n != 0 && shift < 64);
    return text;
}
