/* lstm.c: ADBench's LSTM objective (examples/adbench/lstm.rasm), and its gradient: the forward pass keeps states and gates
 * of all times. */
#include <math.h>
#include <string.h>

#include "peers.h"

enum { FORGET, IN, OUT, CHANGE, TANH, GATES };

static inline double sigmoid(double x) {
    return 1 / (1 + exp(-x));
}

/* What a layer has at one time: state h and c, and the gates that led to it. */
static inline double *state_at(const lstm_data *g, int64_t t, int64_t layer) {
    return g->states + (t * g->l + layer) * 2 * g->b;
}

static inline double *gates_at(const lstm_data *g, int64_t t, int64_t layer) {
    return g->gates + (t * g->l + layer) * GATES * g->b;
}

static inline void advance(int64_t b, const double *restrict w, const double *restrict x, const double *restrict old,
                           double *restrict new, double *restrict gates) {
    const double *bias = w + 4 * b;
    for (int64_t j = 0; j < b; j++) {
        const double h = old[j];
        const double forget = sigmoid(x[j] * w[j] + bias[j]), in = sigmoid(h * w[b + j] + bias[b + j]);
        const double out = sigmoid(x[j] * w[2 * b + j] + bias[2 * b + j]), change = tanh(h * w[3 * b + j] + bias[3 * b + j]);
        const double c = old[b + j] * forget + in * change, bent = tanh(c);
        new[j] = out *bent;
        new[b + j] = c;
        gates[FORGET * b + j] = forget;
        gates[IN * b + j] = in;
        gates[OUT * b + j] = out;
        gates[CHANGE * b + j] = change;
        gates[TANH * b + j] = bent;
    }
}

/* All times forward; returns the loss. The sums of exponentials are kept. */
static double forward(const lstm_data *g) {
    const int64_t b = g->b, l = g->l;
    const double *extra = g->extra;
    double total = 0;
    memcpy(g->states, g->state, (size_t)(2 * l * b) * sizeof(double));
    for (int64_t t = 0; t + 1 < g->c; t++) {
        double *restrict x = g->x, sum = 2, golds = 0, golden = 0;
        for (int64_t j = 0; j < b; j++) x[j] = g->sequence[t * b + j] * extra[j];
        for (int64_t i = 0; i < l; i++)
            advance(b, g->main + 8 * b * i, i ? state_at(g, t + 1, i - 1) : x, state_at(g, t, i), state_at(g, t + 1, i),
                    gates_at(g, t, i));
        const double *h = state_at(g, t + 1, l - 1), *gold = g->sequence + (t + 1) * b;
        for (int64_t j = 0; j < b; j++) {
            const double y = h[j] * extra[b + j] + extra[2 * b + j];
            sum += exp(y);
            golds += gold[j];
            golden += gold[j] * y;
        }
        total += golden - golds * log(sum);
        g->sums[t] = sum;
    }
    return -total / (double)((g->c - 1) * b);
}

void PEER(lstm_primal)(void *data) {
    const lstm_data *g = data;
    *g->out = forward(g);
}

/* Adjoint of advance: state_b is that of the new state and becomes that of the old one; x_b gains. */
static inline void sweep(int64_t b, const double *restrict w, const double *restrict x, const double *restrict old,
                         const double *restrict gates, double *restrict w_b, double *restrict x_b,
                         double *restrict state_b) {
    double *bias_b = w_b + 4 * b;
    for (int64_t j = 0; j < b; j++) {
        const double forget = gates[FORGET * b + j], in = gates[IN * b + j], out = gates[OUT * b + j];
        const double change = gates[CHANGE * b + j], bent = gates[TANH * b + j], h = old[j];
        const double c_b = state_b[b + j] + state_b[j] * out * (1 - bent * bent);
        const double forget_b = c_b * old[b + j] * forget * (1 - forget), in_b = c_b * change * in * (1 - in);
        const double out_b = state_b[j] * bent * out * (1 - out), change_b = c_b * in * (1 - change * change);
        w_b[j] += forget_b * x[j];
        w_b[b + j] += in_b * h;
        w_b[2 * b + j] += out_b * x[j];
        w_b[3 * b + j] += change_b * h;
        bias_b[j] += forget_b;
        bias_b[b + j] += in_b;
        bias_b[2 * b + j] += out_b;
        bias_b[3 * b + j] += change_b;
        x_b[j] += forget_b * w[j] + out_b * w[2 * b + j];
        state_b[j] = in_b * w[b + j] + change_b * w[3 * b + j];
        state_b[b + j] = c_b * forget;
    }
}

/* Adjoint of the loss at one time. */
static inline void sweep_loss(const lstm_data *g, int64_t t, double *restrict h_b) {
    const int64_t b = g->b;
    const double *h = state_at(g, t + 1, g->l - 1), *gold = g->sequence + (t + 1) * b;
    const double scale = -1 / (double)((g->c - 1) * b);
    double golds = 0;
    for (int64_t j = 0; j < b; j++) golds += gold[j];
    for (int64_t j = 0; j < b; j++) {
        const double y = h[j] * g->extra[b + j] + g->extra[2 * b + j];
        const double y_b = scale * (gold[j] - golds * exp(y) / g->sums[t]);
        h_b[j] += y_b * g->extra[b + j];
        g->extra_b[b + j] += y_b * h[j];
        g->extra_b[2 * b + j] += y_b;
    }
}

void PEER(lstm_gradient)(void *data) {
    const lstm_data *g = data;
    const int64_t b = g->b, l = g->l;
    double *state_b = g->state_b, *x_b = g->x + b;
    forward(g);
    memset(g->main_b, 0, (size_t)(8 * l * b) * sizeof(double));
    memset(g->extra_b, 0, (size_t)(3 * b) * sizeof(double));
    memset(state_b, 0, (size_t)(2 * l * b) * sizeof(double));
    for (int64_t t = g->c - 2; t >= 0; t--) {
        sweep_loss(g, t, state_b + 2 * b * (l - 1));
        memset(x_b, 0, (size_t)b * sizeof(double));
        for (int64_t j = 0; j < b; j++) g->x[j] = g->sequence[t * b + j] * g->extra[j];
        for (int64_t i = l - 1; i >= 0; i--)
            sweep(b, g->main + 8 * b * i, i ? state_at(g, t + 1, i - 1) : g->x, state_at(g, t, i), gates_at(g, t, i),
                  g->main_b + 8 * b * i, i ? state_b + 2 * b * (i - 1) : x_b, state_b + 2 * b * i);
        for (int64_t j = 0; j < b; j++) g->extra_b[j] += x_b[j] * g->sequence[t * b + j];
    }
}
