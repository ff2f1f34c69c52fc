#ifndef LIMIT_H
#define LIMIT_H

static inline int clamp(int x)
{
	return x > 999 ? 999 : x;
}

#endif
