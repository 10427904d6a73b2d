/* docderive.h: see docderive.c. */
#ifndef DOCDERIVE_H
#define DOCDERIVE_H

#include <stdbool.h>

bool docgen_derivatives(void); /* to standard output; false: out of memory, or a transform failed */

#endif
