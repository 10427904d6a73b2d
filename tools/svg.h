/* svg.h: pictures: lines, rectangles, marks and text as SVG, which browsers and vector programs show. Colours are classes of
 * a style that has two sets, for light and for dark pages (prefers-color-scheme); series are told apart by marks and dashes,
 * too. What is written is well-formed XML whatever the texts are; coordinates are pixels from the upper left corner.
 */
#ifndef RVM_TOOLS_SVG_H
#define RVM_TOOLS_SVG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { SVG_SERIES = 5 }; /* classes s0 to s4 of lines and marks, f0 to f4 of what is filled */

typedef enum svg_anchor { SVG_START, SVG_MIDDLE, SVG_END } svg_anchor;

/* title: what a screen reader says, and a pointer shows. */
void svg_begin(FILE *out, double width, double height, const char *title);
void svg_end(FILE *out);
/* Rules of a picture's own classes, after svg_begin. */
void svg_style(FILE *out, const char *css);
/* class: "axis", "grid", "s0", "f0" ... */
void svg_line(FILE *out, const char *class_name, double x1, double y1, double x2, double y2);
void svg_rect(FILE *out, const char *class_name, double x, double y, double width, double height);
/* tip: what a pointer shows; "": nothing. */
void svg_box(FILE *out, const char *class_name, double x, double y, double width, double height, const char *tip);
void svg_disc(FILE *out, const char *class_name, double x, double y, double radius);
void svg_ring(FILE *out, const char *class_name, double x, double y, double radius); /* not filled */
/* A line through points: `move` begins another stroke of it. */
void svg_path_begin(FILE *out, const char *class_name);
void svg_path_point(FILE *out, bool move, double x, double y);
void svg_path_end(FILE *out);
/* The mark of a series around a point: a disc, a square, triangles, a diamond. */
void svg_mark(FILE *out, int series, double x, double y);
/* class: "text", "title", "f0" ... */
void svg_text(FILE *out, const char *class_name, svg_anchor anchor, double x, double y, const char *text);
/* At most so many characters, the last of which is an ellipsis where some are left out; begun at a point, or centred where
 * the class has text-anchor; tip: the text whole. */
void svg_label(FILE *out, const char *class_name, double x, double y, const char *text, size_t most, bool tip);
/* svg_text upward, around the point. */
void svg_text_upward(FILE *out, const char *class_name, double x, double y, const char *text);

#endif
