/* A machine of byte codes with a stack, that counts primes by trial division. */

enum code { PUSH, LOAD, STORE, ADD, SUB, MUL, MOD, LESS, EQUAL, JUMP, JUMP_IF_NOT, HALT };

struct value {
    int tag;
    union {
        long number;
        double real;
    } u;
};

struct machine {
    const unsigned char *at;
    struct value *top;
    struct value stack[64];
    struct value locals[8];
};

static const unsigned char program[] = {
    PUSH, 2, STORE, 0, PUSH, 0, STORE, 2,
    /* 8: while (candidate < limit) */ LOAD, 0, LOAD, 3, LESS, 0, JUMP_IF_NOT, 68,
    /* 16: divisor = 2 */ PUSH, 2, STORE, 1,
    /* 20: while (divisor * divisor < candidate + 1) */ LOAD, 1, LOAD, 1, MUL, 0,
    LOAD, 0, PUSH, 1, ADD, 0, LESS, 0, JUMP_IF_NOT, 54,
    /* 36: if (candidate % divisor == 0) break */ LOAD, 0, LOAD, 1, MOD, 0, JUMP_IF_NOT, 60 + 2,
    /* 44: divisor++ */ LOAD, 1, PUSH, 1, ADD, 0, STORE, 1, JUMP, 20,
    /* 54: count++ */ LOAD, 2, PUSH, 1, ADD, 0, STORE, 2,
    /* 62: candidate++ */ LOAD, 0, PUSH, 1, JUMP, 70,
    /* 68: */ HALT, 0,
    /* 70: */ ADD, 0, STORE, 0, JUMP, 8,
};

static void push(struct machine *m, long number)
{
    m->top->tag = 1;
    m->top->u.number = number;
    m->top++;
}

static long run(struct machine *m, long limit)
{
    m->at = program;
    m->top = m->stack;
    m->locals[3].tag = 1;
    m->locals[3].u.number = limit;
    for (;;) {
        switch ((enum code)*m->at++) {
        case PUSH:
            push(m, *m->at++);
            break;
        case LOAD:
            *m->top++ = m->locals[*m->at++];
            break;
        case STORE:
            m->locals[*m->at++] = *--m->top;
            break;
        case ADD:
            m->at++;
            m->top--;
            m->top[-1].u.number += m->top[0].u.number;
            break;
        case SUB:
            m->at++;
            m->top--;
            m->top[-1].u.number -= m->top[0].u.number;
            break;
        case MUL:
            m->at++;
            m->top--;
            m->top[-1].u.number *= m->top[0].u.number;
            break;
        case MOD:
            m->at++;
            m->top--;
            m->top[-1].u.number %= m->top[0].u.number;
            break;
        case LESS:
            m->at++;
            m->top--;
            m->top[-1].u.number = m->top[-1].u.number < m->top[0].u.number;
            break;
        case EQUAL:
            m->at++;
            m->top--;
            m->top[-1].u.number = m->top[-1].u.number == m->top[0].u.number;
            break;
        case JUMP:
            m->at = program + *m->at;
            break;
        case JUMP_IF_NOT:
            m->top--;
            if (m->top->u.number)
                m->at++;
            else
                m->at = program + *m->at;
            break;
        default:
            return m->locals[2].u.number;
        }
    }
}

unsigned long bench(void)
{
    static struct machine m;
    return (unsigned long)run(&m, 6000);
}
