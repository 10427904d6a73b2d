/* descend.c: gradient descent with a gradient that was compiled ahead of time; nothing of the machine is linked. */
#include "logistic.h"
#include "logistic_gradient.h"

#include <math.h>
#include <stdio.h>

enum { POINTS = 200, WEIGHTS = 3, STEPS = 100 };

static double X[POINTS][WEIGHTS], y[POINTS];

/* Points on a spiral; the class says on which side of a line they are. */
static void make_points(void) {
    for (int i = 0; i < POINTS; i++) {
        const double radius = 0.02 * i, angle = 0.7 * i;
        X[i][0] = 1;
        X[i][1] = radius * cos(angle);
        X[i][2] = radius * sin(angle);
        y[i] = X[i][1] - 2 * X[i][2] + 0.3 * cos(5 * angle) > 0.5 ? 1 : -1;
    }
}

static int descend(double w[WEIGHTS]) {
    int status = 0;
    for (int step = 0; step <= STEPS && !status; step++) {
        double loss = 0, gradient[WEIGHTS] = {0};
        if (step % 25 == 0) {
            if (logistic(&loss, w, &X[0][0], y, WEIGHTS, POINTS)) loss = NAN;
            printf("step %3d  loss %8.4f  weights %7.4f %7.4f %7.4f\n", step, loss, w[0], w[1], w[2]);
        }
        status = logistic_gradient(&loss, 1, w, gradient, &X[0][0], y, WEIGHTS, POINTS);
        for (int k = 0; k < WEIGHTS; k++) w[k] -= 0.02 * gradient[k];
    }
    return status;
}

int main(void) {
    double w[WEIGHTS] = {0};
    make_points();
    const int status = descend(w);
    if (status) fprintf(stderr, "%s\n", logistic_gradient_message(status));
    return status != 0;
}
