/* progress.c: the only state of the process that is not in a tool: what the handler of SIGINT needs. */
#include "tool.h"

#include <math.h>
#include <signal.h>
#include <unistd.h>

static rvm_machine *volatile running;
static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number) {
    (void)signal_number;
    interrupted = 1;
    if (running) rvm_machine_cancel(running);
}

void progress_begin(progress *p, rvm_machine *m) {
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    *p = (progress){.terminal = !p->poll && isatty(STDERR_FILENO), .machine = m, .poll = p->poll};
    clock_gettime(CLOCK_MONOTONIC, &p->begin);
    if (p->poll) return;
    running = m;
    interrupted = 0;
    sigaction(SIGINT, &action, NULL);
}

double progress_seconds(const progress *p) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - p->begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - p->begin.tv_nsec);
}

bool progress_interrupted(void) {
    return interrupted;
}

static double scaled(double x, const char **unit) {
    static const char *const units[] = {"", " k", " M", " G", " T"};
    size_t u = 0;
    while (fabs(x) >= 1000 && u + 1 < sizeof units / sizeof *units) x /= 1000, u++;
    *unit = units[u];
    return x;
}

void progress_show(progress *p, uint64_t instructions, double share) {
    const char *unit, *rate_unit;
    const double s = progress_seconds(p);
    if (!p->terminal || s < 1 || s < p->shown + 0.25) return;
    double n = scaled((double)instructions, &unit), rate = scaled((double)instructions / s, &rate_unit);
    if (share >= 0)
        fprintf(stderr, "\r%3.0f%%, ", 100 * share);
    else
        fputc('\r', stderr);
    fprintf(stderr, "%.1f%s instructions, %.0f%s a second, %.0f s\033[K", n, unit, rate, rate_unit, s);
    fflush(stderr);
    p->shown = s;
}

bool progress_callback(void *userdata, uint64_t instructions) {
    progress *p = userdata;
    if (p->poll) return p->poll(p, instructions);
    if (p->most && instructions > p->most) return p->gave_up = true;
    if (!p->terminal) return false;
    if (instructions < p->latest) p->before += p->latest; /* another run: a sweep after its way forward */
    p->latest = instructions;
    progress_show(p, p->before + instructions, rvm_machine_share(p->machine));
    return false;
}

/* What the program prints, before its results. */
void printed(void *userdata, const rvm_printed *what) {
    const progress *p = userdata;
    if (p->returns) return;
    progress_end(userdata);
    printf("%s\n", what->text);
}

/* The same where standard output is for one object. */
void printed_beside(void *userdata, const rvm_printed *what) {
    const progress *p = userdata;
    if (p->returns) return;
    progress_end(userdata);
    fprintf(stderr, "%s\n", what->text);
}

void progress_end(progress *p) {
    if (p->shown > 0) fputs("\r\033[K", stderr);
    p->shown = 0;
    p->machine = NULL;
    if (p->poll) return;
    running = NULL;
    signal(SIGINT, SIG_DFL);
}
