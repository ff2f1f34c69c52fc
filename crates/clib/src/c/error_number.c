/* The error number, under the name by which tests set it. It stands last, since the header's macro of
   that name must be gone. */
#undef errno
int errno;
int *__errno_location(void) { return &errno; }
