/* coprocessor.c: rvm_coprocessor.h. */
#include <stdlib.h>

#include "nulls.h"
#include "rvm_coprocessor.h"

static void model_names(void) {
    const rvm_model_key none_such = (rvm_model_key)99;
    HARMLESS(rvm_cause_name, cause, !strcmp(rvm_cause_name((rvm_cause)99), "?"));
    HARMLESS(rvm_law_name, law, !strcmp(rvm_law_name((rvm_law)99), "?"));
    HARMLESS(rvm_model_key_name, key, !strcmp(rvm_model_key_name(none_such), "?"));
    HARMLESS(rvm_model_key_unit, key, !strcmp(rvm_model_key_unit(none_such), "?"));
    HARMLESS(rvm_model_key_doc, key, !strcmp(rvm_model_key_doc(none_such), "?"));
    HARMLESS(rvm_model_key_find, name, rvm_model_key_find(NULL) == RVM_MODEL_KEYS);
    double number;
    tried("rvm_model_key_number", "key", rvm_model_key_number(none_such, "1", &number, &e) == RVM_ERR_ARGUMENT, "ARGUMENT");
    REFUSED(rvm_model_key_number, text, RVM_MODEL_CLOCK, NULL, &number, &e);
    REFUSED(rvm_model_key_number, out, RVM_MODEL_CLOCK, "1", NULL, &e);
    UNTOLD(rvm_model_key_number, RVM_MODEL_CLOCK, NULL, &number, NULL);
    HARMLESS(rvm_model_shipped_name, text, rvm_model_shipped_name(0, NULL) != NULL);
}

static void models(void) {
    const rvm_model_key none_such = (rvm_model_key)99;
    rvm_model *model = NULL, *other = NULL;
    const char *text;
    uint32_t line;
    model_names();
    if (!rvm_model_shipped_name(0, &text) || rvm_model_shipped("cmos45", NULL, &model, &e)) failures++;
    const size_t size = strlen(text);
    REFUSED(rvm_model_shipped, name, NULL, NULL, &other, &e);
    REFUSED(rvm_model_shipped, out, "cmos45", NULL, NULL, &e);
    UNTOLD(rvm_model_shipped, NULL, NULL, &other, NULL);
    ALLOWED(rvm_model_shipped, al, "cmos45", NULL, &other, &e);
    rvm_model_free(other);
    REFUSED(rvm_model_parse, text, NULL, size, "x", NULL, &other, &e);
    REFUSED(rvm_model_parse, name, text, size, NULL, NULL, &other, &e);
    REFUSED(rvm_model_parse, out, text, size, "x", NULL, NULL, &e);
    UNTOLD(rvm_model_parse, NULL, size, "x", NULL, &other, NULL);
    ALLOWED(rvm_model_parse, al, text, size, "x", NULL, &other, &e);
    rvm_model_free(other);
    HARMLESS(rvm_model_free, m, (rvm_model_free(NULL), true));
    HARMLESS(rvm_model_name, m, !rvm_model_name(NULL));
    HARMLESS(rvm_model_title, m, !rvm_model_title(NULL));
    HARMLESS(rvm_model_against, m, !rvm_model_against(NULL));
    HARMLESS(rvm_model_law, m, rvm_model_law(NULL) == RVM_LAWS);
    HARMLESS(rvm_model_get, m, rvm_model_get(NULL, RVM_MODEL_CLOCK) != rvm_model_get(NULL, RVM_MODEL_CLOCK));
    HARMLESS(rvm_model_get, key, rvm_model_get(model, none_such) != rvm_model_get(model, none_such));
    HARMLESS(rvm_model_source, m, !rvm_model_source(NULL, RVM_MODEL_CLOCK, &line));
    HARMLESS(rvm_model_source, key, !rvm_model_source(model, none_such, &line));
    HARMLESS(rvm_model_source, line, rvm_model_source(model, RVM_MODEL_CLOCK, NULL) != NULL);
    REFUSED(rvm_model_set, m, NULL, RVM_MODEL_CLOCK, 1, &e);
    tried("rvm_model_set", "key", rvm_model_set(model, none_such, 1, &e) == RVM_ERR_ARGUMENT, e.message);
    UNTOLD(rvm_model_set, NULL, RVM_MODEL_CLOCK, 1, NULL);
    HARMLESS(rvm_model_cycles, m, rvm_model_cycles(NULL, &(rvm_work){0}) == 0);
    HARMLESS(rvm_model_cycles, w, rvm_model_cycles(model, NULL) == 0);
    HARMLESS(rvm_model_turn_cycles, m, rvm_model_turn_cycles(NULL) == 0);
    rvm_model_free(model);
}

static rvm_counts *some_counts(void) {
    const rvm_counted kind = {.kind = "add", .direction = 1, .count = 1};
    rvm_counts *c = NULL, *none_such = NULL;
    rvm_counted k;
    REFUSED(rvm_counts_new, out, NULL, NULL, &e);
    UNTOLD(rvm_counts_new, NULL, NULL, NULL);
    ALLOWED(rvm_counts_new, al, NULL, &c, &e);
    HARMLESS(rvm_counts_free, c, (rvm_counts_free(NULL), true));
    REFUSED(rvm_counts_add_machine, c, NULL, m, 1, &e);
    REFUSED(rvm_counts_add_machine, m, c, NULL, 1, &e);
    UNTOLD(rvm_counts_add_machine, NULL, m, 1, NULL);
    REFUSED(rvm_counts_add, c, NULL, c, 1, &e);
    REFUSED(rvm_counts_add, from, c, none_such, 1, &e);
    UNTOLD(rvm_counts_add, NULL, c, 1, NULL);
    REFUSED(rvm_counts_add_kind, c, NULL, &kind, 1, &e);
    REFUSED(rvm_counts_add_kind, kind, c, NULL, 1, &e);
    UNTOLD(rvm_counts_add_kind, NULL, &kind, 1, NULL);
    REFUSED(rvm_counts_add_sums, c, NULL, &(rvm_counts_sums){0}, 1, &e);
    REFUSED(rvm_counts_add_sums, s, c, NULL, 1, &e);
    UNTOLD(rvm_counts_add_sums, NULL, NULL, 1, NULL);
    if (rvm_counts_add_kind(c, &kind, 1, &e)) failures++;
    HARMLESS(rvm_counts_kind, c, !rvm_counts_kind(NULL, 0, &k));
    HARMLESS(rvm_counts_kind, out, !rvm_counts_kind(c, 0, NULL));
    return c;
}

static void prices(void) {
    rvm_counts *c = some_counts();
    rvm_counts_sums sums;
    rvm_model *model = NULL;
    rvm_price price, other;
    rvm_break_even b;
    FILE *sink = tmpfile();
    if (!sink || rvm_model_shipped("cmos45", NULL, &model, &e)) exit(1);
    HARMLESS(rvm_counts_total, c, (rvm_counts_total(NULL, &sums), !sums.instructions));
    HARMLESS(rvm_counts_total, out, (rvm_counts_total(c, NULL), true));
    HARMLESS(rvm_counts_erased, c, !rvm_counts_erased(NULL));
    REFUSED(rvm_counts_write, c, NULL, sink, &e);
    REFUSED(rvm_counts_write, out, c, NULL, &e);
    UNTOLD(rvm_counts_write, NULL, sink, NULL);
    REFUSED(rvm_counts_read, c, NULL, "", 0, "x", &e);
    REFUSED(rvm_counts_read, text, c, NULL, 0, "x", &e);
    REFUSED(rvm_counts_read, name, c, "", 0, NULL, &e);
    UNTOLD(rvm_counts_read, NULL, "", 0, "x", NULL);
    REFUSED(rvm_model_price, m, NULL, c, 0, &price, &e);
    REFUSED(rvm_model_price, c, model, NULL, 0, &price, &e);
    REFUSED(rvm_model_price, out, model, c, 0, NULL, &e);
    UNTOLD(rvm_model_price, NULL, c, 0, &price, NULL);
    REFUSED(rvm_model_best_clock, m, NULL, c, 1, 2, &price, &e);
    REFUSED(rvm_model_best_clock, c, model, NULL, 1, 2, &price, &e);
    REFUSED(rvm_model_best_clock, out, model, c, 1, 2, NULL, &e);
    UNTOLD(rvm_model_best_clock, NULL, c, 1, 2, &price, NULL);
    if (rvm_model_price(model, c, 0, &price, &e)) failures++;
    other = price;
    REFUSED(rvm_break_even_of, reversible, NULL, &price, c, &other, &b, &e);
    REFUSED(rvm_break_even_of, price, c, NULL, c, &other, &b, &e);
    REFUSED(rvm_break_even_of, irreversible, c, &price, NULL, &other, &b, &e);
    REFUSED(rvm_break_even_of, other, c, &price, c, NULL, &b, &e);
    REFUSED(rvm_break_even_of, out, c, &price, c, &other, NULL, &e);
    UNTOLD(rvm_break_even_of, NULL, &price, c, &other, &b, NULL);
    fclose(sink);
    rvm_model_free(model);
    rvm_counts_free(c);
}

static void devices(void) {
    rvm_device *d = NULL;
    rvm_counts *c = NULL;
    rvm_arg shapes[] = {rvm_arg_f64(0), rvm_arg_array_f64(&(double){0}, 1, (int64_t[]){1})};
    const rvm_queued turn = {.kind = RVM_QUEUE_DIRECTION};
    HARMLESS(rvm_queue_name, kind, !strcmp(rvm_queue_name((rvm_queue_kind)99), "?"));
    REFUSED(rvm_device_new, m, NULL, fn, shapes, 2, NULL, &d, &e);
    REFUSED(rvm_device_new, shapes, m, fn, NULL, 2, NULL, &d, &e);
    REFUSED(rvm_device_new, out, m, fn, shapes, 2, NULL, NULL, &e);
    UNTOLD(rvm_device_new, NULL, fn, shapes, 2, NULL, &d, NULL);
    ALLOWED(rvm_device_new, al, m, fn, shapes, 2, NULL, &d, &e);
    REFUSED(rvm_device_run, d, NULL, &turn, 1, &e);
    REFUSED(rvm_device_run, queue, d, NULL, 1, &e);
    UNTOLD(rvm_device_run, NULL, &turn, 1, NULL);
    if (rvm_counts_new(NULL, &c, &e)) failures++;
    REFUSED(rvm_device_counts, d, NULL, c, &e);
    REFUSED(rvm_device_counts, c, d, NULL, &e);
    UNTOLD(rvm_device_counts, NULL, c, NULL);
    HARMLESS(rvm_device_free, d, (rvm_device_free(NULL), true));
    rvm_counts_free(c);
    rvm_device_free(d);
}

void try_coprocessor(void) {
    models();
    prices();
    devices();
}
