/* chart.h: axes, linear or by powers of ten, lines of measured points with direct labels, legends: on svg.h. */
#ifndef RVM_TOOLS_CHART_H
#define RVM_TOOLS_CHART_H

#include "svg.h"

typedef struct axis {
    const char *label;
    double low, high; /* low < high; of log 0 < low */
    bool log;
    const char *unit; /* of its numbers, which then have prefixes: "J"; NULL: plain numbers */
} axis;

enum { CHART_LABELS = 16 };

typedef struct chart {
    FILE *out;
    axis x, y;
    double left, top, right, bottom; /* of the plane, in pixels */
    struct chart_label {
        const char *text; /* borrowed until chart_end */
        int series;
        double y;
    } labels[CHART_LABELS];
    int nlabels, legends;
} chart;

/* Draws the page, the axes with ticks at round numbers, the grid, the title. names: NULL, or a word for each whole number
 * from y.low up, in place of the numbers. right_margin: room for direct labels. */
void chart_begin(chart *c, FILE *out, double width, double height, double right_margin, const char *title, axis x, axis y,
                 const char *const *names);
/* With the direct labels, moved apart where they would overlap. */
void chart_end(chart *c);
double chart_x(const chart *c, double x); /* pixels */
double chart_y(const chart *c, double y);
/* A line through n points with the marks of the series, and its name behind the last of them. */
void chart_line(chart *c, int series, const double *x, const double *y, int n, const char *name);
/* One more entry above the plane, from the left: a sample of the class, and what it is. filled: a bar, else a line. */
void chart_legend(chart *c, const char *class_name, bool filled, const char *text);
/* "12", "1.5k", "20M": up to three digits and a letter for the power of thousand. */
void chart_number(double x, char text[24]);
/* "32.2 nJ": three digits and a prefix. */
enum { QUANTITY_TEXT = 32 };
const char *quantity(double x, const char *unit, char text[QUANTITY_TEXT]);

#endif
