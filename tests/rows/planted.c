/* planted.c: the rows with a mistake in their partials, which the check of rows.c must find. */
#define PLANT
#define TABLE planted_rows
#include "dual_table.h"
