#include "svg.h"

/* Blue, vermilion, green, purple, grey: told apart in every common kind of colour blindness, and 4.5 to 1 against the page.
 */
#define LIGHT                                                                                                               \
    ".page{fill:#fff}.text,.title{fill:#1a1a1a}.axis{stroke:#666}.grid{stroke:#e4e4e4}"                                     \
    ".s0{stroke:#0068a8}.s1{stroke:#b84a00}.s2{stroke:#00795a}.s3{stroke:#a0388c}.s4{stroke:#555}"                          \
    ".f0{fill:#0068a8}.f1{fill:#b84a00}.f2{fill:#00795a}.f3{fill:#a0388c}.f4{fill:#555}"
#define DARK                                                                                                                \
    ".page{fill:#16181c}.text,.title{fill:#e8e8e8}.axis{stroke:#9a9a9a}.grid{stroke:#33373d}"                               \
    ".s0{stroke:#5ab4f0}.s1{stroke:#ff9248}.s2{stroke:#3fd6a4}.s3{stroke:#f0a0dc}.s4{stroke:#c4c4c4}"                       \
    ".f0{fill:#5ab4f0}.f1{fill:#ff9248}.f2{fill:#3fd6a4}.f3{fill:#f0a0dc}.f4{fill:#c4c4c4}"

/* Text of any bytes as XML: what XML has no character for becomes U+FFFD, as do bytes beyond ASCII that are no UTF-8. */
static size_t utf8_length(const unsigned char *s) {
    const size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) return 0;
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) return 0;
    return s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe ? 0 : n;
}

static void escaped_to(FILE *out, const char *text, size_t most) {
    for (const unsigned char *s = (const unsigned char *)text; *s && most; most--) {
        const size_t n = utf8_length(s);
        if (*s == '&')
            fputs("&amp;", out);
        else if (*s == '<')
            fputs("&lt;", out);
        else if (*s == '>')
            fputs("&gt;", out);
        else if (!n || (*s < 0x20 && *s != '\t' && *s != '\n'))
            fputs("\xef\xbf\xbd", out);
        else
            fwrite(s, 1, n, out);
        s += n ? n : 1;
    }
}

static bool is_longer(const char *text, size_t most) {
    for (const unsigned char *s = (const unsigned char *)text; *s; most--) {
        const size_t n = utf8_length(s);
        if (!most) return true;
        s += n ? n : 1;
    }
    return false;
}

static void escaped(FILE *out, const char *text) {
    escaped_to(out, text, SIZE_MAX);
}

static void title(FILE *out, const char *text) {
    fputs("<title>", out);
    escaped(out, text);
    fputs("</title>", out);
}

/* Hundredths of a pixel, without what adds nothing. */
static void number(FILE *out, double x) {
    char text[40];
    int n = snprintf(text, sizeof text, "%.2f", x);
    while (text[n - 1] == '0') n--;
    if (text[n - 1] == '.') n--;
    fwrite(text, 1, (size_t)n, out);
}

static void attribute(FILE *out, const char *name, double x) {
    fprintf(out, " %s=\"", name);
    number(out, x);
    fputc('"', out);
}

void svg_begin(FILE *out, double width, double height, const char *name) {
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" viewBox=\"0 0 %.0f %.0f\"", width, height);
    attribute(out, "width", width);
    attribute(out, "height", height);
    fputs(">\n", out);
    title(out, name);
    fputs("\n<style>\ntext{font-family:system-ui,\"DejaVu Sans\",sans-serif;font-size:12px}.title{font-size:14px}\n"
          ".axis,.grid{stroke-width:1;fill:none}.s0,.s1,.s2,.s3,.s4{stroke-width:1.8;fill:none;stroke-linejoin:round}\n"
          ".s1{stroke-dasharray:7 3}.s2{stroke-dasharray:2 3}.s3{stroke-dasharray:9 3 2 3}\n"
          ".solid{stroke-dasharray:none}.held{opacity:.75}\n" LIGHT "\n@media(prefers-color-scheme:dark){" DARK
          "}\n</style>\n",
          out);
    svg_rect(out, "page", 0, 0, width, height);
}

void svg_style(FILE *out, const char *css) {
    fprintf(out, "<style>\n%s</style>\n", css);
}

void svg_end(FILE *out) {
    fputs("</svg>\n", out);
}

void svg_line(FILE *out, const char *class_name, double x1, double y1, double x2, double y2) {
    fprintf(out, "<line class=\"%s\"", class_name);
    attribute(out, "x1", x1);
    attribute(out, "y1", y1);
    attribute(out, "x2", x2);
    attribute(out, "y2", y2);
    fputs("/>\n", out);
}

static void rect(FILE *out, const char *class_name, double x, double y, double width, double height) {
    fprintf(out, "<rect class=\"%s\"", class_name);
    attribute(out, "x", x);
    attribute(out, "y", y);
    attribute(out, "width", width);
    attribute(out, "height", height);
}

void svg_rect(FILE *out, const char *class_name, double x, double y, double width, double height) {
    rect(out, class_name, x, y, width, height);
    fputs("/>\n", out);
}

void svg_box(FILE *out, const char *class_name, double x, double y, double width, double height, const char *tip) {
    rect(out, class_name, x, y, width, height);
    fputc('>', out);
    if (*tip) title(out, tip);
    fputs("</rect>\n", out);
}

void svg_disc(FILE *out, const char *class_name, double x, double y, double radius) {
    fprintf(out, "<circle class=\"%s\"", class_name);
    attribute(out, "cx", x);
    attribute(out, "cy", y);
    attribute(out, "r", radius);
    fputs("/>\n", out);
}

void svg_ring(FILE *out, const char *class_name, double x, double y, double radius) {
    fprintf(out, "<circle class=\"%s\" fill=\"none\" stroke-width=\"2\"", class_name);
    attribute(out, "cx", x);
    attribute(out, "cy", y);
    attribute(out, "r", radius);
    fputs("/>\n", out);
}

void svg_path_begin(FILE *out, const char *class_name) {
    fprintf(out, "<path class=\"%s\" d=\"", class_name);
}

void svg_path_point(FILE *out, bool move, double x, double y) {
    fputc(move ? 'M' : 'L', out);
    number(out, x);
    fputc(' ', out);
    number(out, y);
}

void svg_path_end(FILE *out) {
    fputs("\"/>\n", out);
}

/* Corners around the point, in pixels; the disc is drawn apart. */
static const struct mark {
    int n;
    double x[4], y[4];
} marks[SVG_SERIES] = {{0, {0}, {0}},
                       {4, {-3.5, 3.5, 3.5, -3.5}, {-3.5, -3.5, 3.5, 3.5}},
                       {3, {0, 4.5, -4.5, 0}, {-4.5, 3.5, 3.5, 0}},
                       {4, {0, 5, 0, -5}, {-5, 0, 5, 0}},
                       {3, {0, 4.5, -4.5, 0}, {4.5, -3.5, -3.5, 0}}};

void svg_mark(FILE *out, int series, double x, double y) {
    const struct mark *m = &marks[series];
    if (!m->n) {
        char name[16];
        snprintf(name, sizeof name, "f%d", series);
        svg_disc(out, name, x, y, 3.8);
        return;
    }
    fprintf(out, "<polygon class=\"f%d\" points=\"", series);
    for (int k = 0; k < m->n; k++) {
        if (k) fputc(' ', out);
        number(out, x + m->x[k]);
        fputc(',', out);
        number(out, y + m->y[k]);
    }
    fputs("\"/>\n", out);
}

void svg_text(FILE *out, const char *class_name, svg_anchor anchor, double x, double y, const char *text) {
    static const char *const anchors[] = {"start", "middle", "end"};
    fprintf(out, "<text class=\"%s\" text-anchor=\"%s\"", class_name, anchors[anchor]);
    attribute(out, "x", x);
    attribute(out, "y", y);
    fputc('>', out);
    escaped(out, text);
    fputs("</text>\n", out);
}

void svg_label(FILE *out, const char *class_name, double x, double y, const char *text, size_t most, bool tip) {
    fprintf(out, "<text class=\"%s\"", class_name);
    attribute(out, "x", x);
    attribute(out, "y", y);
    fputc('>', out);
    const bool cut = most > 1 && is_longer(text, most);
    if (tip) title(out, text);
    escaped_to(out, text, cut ? most - 1 : most);
    if (cut) fputs("\u2026", out);
    fputs("</text>\n", out);
}

void svg_text_upward(FILE *out, const char *class_name, double x, double y, const char *text) {
    fprintf(out, "<text class=\"%s\" text-anchor=\"middle\" transform=\"translate(", class_name);
    number(out, x);
    fputc(' ', out);
    number(out, y);
    fputs(")rotate(-90)\">", out);
    escaped(out, text);
    fputs("</text>\n", out);
}
