/* runtime_cta.c: what a kernel calls that has a CTA for each instance, as runtime.c has the rest.
 *
 * Its memory that all threads of the CTA see begins with which block within they are to run, and whether one has failed: a
 * thread that fails says so and exits, and the others exit where they meet next. A barrier does not wait for who has
 * exited. */
#include "device.h"

#include <stddef.h>

/* begin: by all threads, before they meet first. This and the next are inlined once the instance is, whose blocks are told
 * from the kernel's own by that. meet: all that was written before is seen behind it. All are at the same place, of those
 * that a kernel has. add_met: like add_entry (runtime.c), up to *end. add_all_met: n of such, each by the thread that has
 * the element. may_be_alike, look_alike: *flag is 0, and then 1 where not all m instances add to the same elements in the
 * same order, `each` additions; else link_same, where they meet, and add_alike do the same as add_all_met: an element is the
 * thread's that has the first addition to it, and that has the next one in place of the second instance's address (0: there
 * is none), negative where it is not the first itself, or none. add_any: to a whole number, wherever it is. lacks_met: as
 * lacks_slots. lacks_slots: an instance of a block within has more additions than are kept. add_together: what all threads
 * of each warp have. add_own: to an element that no other thread adds to before they meet. sum_parts, sum_tree: what m
 * instances of a chunk of a block within add to a register, n terms each of which the first stand `stride` elements apart,
 * is summed into eight parts, upwards or downwards; those in pairs, and that to *sum. */
#define MEETS "define void @rvm.device.barrier(i32 %place) alwaysinline convergent nounwind {\n"
#define FENCE "define void @rvm.device.fence() alwaysinline nounwind {\n"
const char rvm__cta_device[] = "declare void @llvm.nvvm.barrier.sync(i32)\n"
                               "declare void @llvm.nvvm.membar.cta()\n" MEETS "  call void @llvm.nvvm.barrier.sync(i32 0)\n"
                               "  ret void\n"
                               "}\n" FENCE "  call void @llvm.nvvm.membar.cta()\n"
                               "  ret void\n"
                               "}\n";
const char rvm__cta_grid[] = "declare void @rvm_grid_barrier(i32)\n" MEETS "  call void @rvm_grid_barrier(i32 %place)\n"
                             "  ret void\n"
                             "}\n" FENCE "  ret void\n"
                             "}\n";

#define SUMS(T, ADD, NONE)                                                                                                  \
    "(ptr %terms, i64 %m, i64 %stride, i64 %n, i64 %up, i64 %tid, ptr %parts) alwaysinline nounwind {\n"                    \
    "entry:\n"                                                                                                              \
    "  %is = icmp ult i64 %tid, 8\n"                                                                                        \
    "  br i1 %is, label %begin, label %on\n"                                                                                \
    "begin:\n"                                                                                                              \
    "  %some = icmp ugt i64 %m, %tid\n"                                                                                     \
    "  %behind = sub i64 %m, %tid\n"                                                                                        \
    "  %more = add i64 %behind, 7\n"                                                                                        \
    "  %whole = lshr i64 %more, 3\n"                                                                                        \
    "  %count = select i1 %some, i64 %whole, i64 0\n"                                                                       \
    "  %before = sub i64 %count, 1\n"                                                                                       \
    "  %way = shl i64 %before, 3\n"                                                                                         \
    "  %last = add i64 %tid, %way\n"                                                                                        \
    "  %ascends = icmp ne i64 %up, 0\n"                                                                                     \
    "  %first = select i1 %ascends, i64 %tid, i64 %last\n"                                                                  \
    "  %step = select i1 %ascends, i64 8, i64 -8\n"                                                                         \
    "  br label %head\n"                                                                                                    \
    "head:\n"                                                                                                               \
    "  %i = phi i64 [0, %begin], [%j, %next]\n"                                                                             \
    "  %k = phi i64 [%first, %begin], [%l, %next]\n"                                                                        \
    "  %s = phi " T " [" NONE ", %begin], [%a, %next]\n"                                                                    \
    "  %left = icmp ult i64 %i, %count\n"                                                                                   \
    "  br i1 %left, label %instance, label %done\n"                                                                         \
    "instance:\n"                                                                                                           \
    "  %row = mul i64 %k, %stride\n"                                                                                        \
    "  br label %terms.head\n"                                                                                              \
    "terms.head:\n"                                                                                                         \
    "  %t = phi i64 [0, %instance], [%u, %add]\n"                                                                           \
    "  %a = phi " T " [%s, %instance], [%b, %add]\n"                                                                        \
    "  %go = icmp ult i64 %t, %n\n"                                                                                         \
    "  br i1 %go, label %add, label %next\n"                                                                                \
    "add:\n"                                                                                                                \
    "  %at = add i64 %row, %t\n"                                                                                            \
    "  %p = getelementptr i64, ptr %terms, i64 %at\n"                                                                       \
    "  %x = load " T ", ptr %p\n"                                                                                           \
    "  %b = " ADD " " T " %a, %x\n"                                                                                         \
    "  %u = add i64 %t, 1\n"                                                                                                \
    "  br label %terms.head\n"                                                                                              \
    "next:\n"                                                                                                               \
    "  %j = add i64 %i, 1\n"                                                                                                \
    "  %l = add i64 %k, %step\n"                                                                                            \
    "  br label %head\n"                                                                                                    \
    "done:\n"                                                                                                               \
    "  %q = getelementptr i64, ptr %parts, i64 %tid\n"                                                                      \
    "  store " T " %s, ptr %q\n"                                                                                            \
    "  br label %on\n"                                                                                                      \
    "on:\n"                                                                                                                 \
    "  ret void\n"                                                                                                          \
    "}\n"
#define PART(T, k)                                                                                                          \
    "  %q" #k " = getelementptr i64, ptr %parts, i64 " #k "\n"                                                              \
    "  %p" #k " = load " T ", ptr %q" #k "\n"
#define TREE(T, ADD)                                                                                                        \
    "(ptr %parts, ptr %sum, i64 %tid) alwaysinline nounwind {\n"                                                            \
    "  %is = icmp eq i64 %tid, 0\n"                                                                                         \
    "  br i1 %is, label %add, label %on\n"                                                                                  \
    "add:\n" PART(T, 0) PART(T, 1) PART(T, 2) PART(T, 3) PART(T, 4) PART(T, 5) PART(T, 6)                                   \
        PART(T, 7) "  %a = " ADD " " T " %p0, %p4\n"                                                                        \
                   "  %b = " ADD " " T " %p2, %p6\n"                                                                        \
                   "  %c = " ADD " " T " %p1, %p5\n"                                                                        \
                   "  %d = " ADD " " T " %p3, %p7\n"                                                                        \
                   "  %e = " ADD " " T " %a, %b\n"                                                                          \
                   "  %f = " ADD " " T " %c, %d\n"                                                                          \
                   "  %g = " ADD " " T " %e, %f\n"                                                                          \
                   "  %was = load " T ", ptr %sum\n"                                                                        \
                   "  %now = " ADD " " T " %was, %g\n"                                                                      \
                   "  store " T " %now, ptr %sum\n"                                                                         \
                   "  br label %on\n"                                                                                       \
                   "on:\n"                                                                                                  \
                   "  ret void\n"                                                                                           \
                   "}\n"

const char rvm__cta_both[] =
    "define void @rvm.device.begin(ptr %shared, i64 %tid) nounwind {\n"
    "  %is = icmp eq i64 %tid, 0\n"
    "  br i1 %is, label %first, label %on\n"
    "first:\n"
    "  %failed = getelementptr i8, ptr %shared, i64 8\n"
    "  store i64 0, ptr %failed\n"
    "  br label %on\n"
    "on:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.meet(ptr %shared, i32 %place) convergent nounwind {\n"
    "  call void @rvm.device.barrier(i32 %place)\n"
    "  %failed = getelementptr i8, ptr %shared, i64 8\n"
    "  %any = load i64, ptr %failed\n"
    "  %is = icmp ne i64 %any, 0\n"
    "  br i1 %is, label %leave, label %on\n"
    "leave:\n"
    "  call void @rvm.device.exit()\n"
    "  unreachable\n"
    "on:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.fail_all(i1 %c, ptr %control, i64 %number, ptr %shared) alwaysinline nounwind {\n"
    "  br i1 %c, label %fail, label %on\n"
    "fail:\n"
    "  %q = addrspacecast ptr %control to ptr addrspace(1)\n"
    "  %was = atomicrmw umin ptr addrspace(1) %q, i64 %number monotonic\n"
    "  %failed = getelementptr i8, ptr %shared, i64 8\n"
    "  store i64 1, ptr %failed\n"
    "  call void @rvm.device.fence()\n"
    "  call void @rvm.device.exit()\n"
    "  unreachable\n"
    "on:\n"
    "  ret void\n"
    "}\n"
    "define i1 @rvm.device.lacks_room(ptr %needed, i64 %used, i64 %each) alwaysinline nounwind {\n"
    "  %beyond = icmp ugt i64 %used, %each\n"
    "  br i1 %beyond, label %ask, label %on\n"
    "ask:\n"
    "  %q = addrspacecast ptr %needed to ptr addrspace(1)\n"
    "  %was = atomicrmw umax ptr addrspace(1) %q, i64 %used monotonic\n"
    "  br label %on\n"
    "on:\n"
    "  ret i1 %beyond\n"
    "}\n"
    "define i1 @rvm.device.lacks_slots(ptr %control, i64 %used, i64 %each) alwaysinline nounwind {\n"
    "  %needed = getelementptr i8, ptr %control, i64 80\n"
    "  %beyond = call i1 @rvm.device.lacks_room(ptr %needed, i64 %used, i64 %each)\n"
    "  ret i1 %beyond\n"
    "}\n"
    "define i1 @rvm.device.lacks_met(ptr %control, i64 %used, i64 %each) alwaysinline nounwind {\n"
    "  %needed = getelementptr i8, ptr %control, i64 112\n"
    "  %beyond = call i1 @rvm.device.lacks_room(ptr %needed, i64 %used, i64 %each)\n"
    "  ret i1 %beyond\n"
    "}\n"
    "define void @rvm.device.add_met(ptr %p, double %x, ptr %slot, ptr %met, ptr %end) alwaysinline nounwind {\n"
    "  %s = load i64, ptr %slot\n"
    "  %t = add i64 %s, 1\n"
    "  store i64 %t, ptr %slot\n"
    "  %e = load i64, ptr %end\n"
    "  %fits = icmp ult i64 %s, %e\n"
    "  br i1 %fits, label %keep, label %on\n"
    "keep:\n"
    "  %all = load ptr, ptr %met\n"
    "  %to = getelementptr [2 x i64], ptr %all, i64 %s\n"
    "  store ptr %p, ptr %to\n"
    "  %term = getelementptr i8, ptr %to, i64 8\n"
    "  store double %x, ptr %term\n"
    "  br label %on\n"
    "on:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.add_any(ptr %p, i64 %x) alwaysinline nounwind {\n"
    "  %was = atomicrmw add ptr %p, i64 %x monotonic\n"
    "  ret void\n"
    "}\n"
    "declare i64 @llvm.ctlz.i64(i64, i1)\n"
    "define void @rvm.device.add_all_met(ptr %met, i64 %n, i64 %tid, i64 %threads) alwaysinline nounwind {\n"
    "entry:\n"
    "  %zeros = call i64 @llvm.ctlz.i64(i64 %threads, i1 true)\n"
    "  %bit = sub i64 63, %zeros\n"
    "  %parts = shl i64 1, %bit\n" /* no more than threads */
    "  %mask = sub i64 %parts, 1\n"
    "  %has = icmp ult i64 %tid, %parts\n"
    "  br i1 %has, label %head, label %done\n"
    "head:\n"
    "  %k = phi i64 [0, %entry], [%l, %next]\n"
    "  %at = phi ptr [null, %entry], [%is, %next]\n"
    "  %sum = phi double [0.0, %entry], [%total, %next]\n"
    "  %more = icmp ult i64 %k, %n\n"
    "  br i1 %more, label %look, label %last\n"
    "look:\n"
    "  %one = getelementptr [2 x i64], ptr %met, i64 %k\n"
    "  %a = load i64, ptr %one\n"
    "  %e = lshr i64 %a, 3\n"
    "  %part = and i64 %e, %mask\n"
    "  %owns = icmp eq i64 %part, %tid\n"
    "  %some = icmp ne i64 %a, 0\n"
    "  %mine = and i1 %owns, %some\n"
    "  br i1 %mine, label %take, label %next\n"
    "take:\n"
    "  %p = inttoptr i64 %a to ptr\n"
    "  %where = getelementptr i8, ptr %one, i64 8\n"
    "  %x = load double, ptr %where\n"
    "  %same = icmp eq ptr %p, %at\n"
    "  br i1 %same, label %add, label %other\n"
    "other:\n"
    "  %any = icmp ne ptr %at, null\n"
    "  br i1 %any, label %put, label %get\n"
    "put:\n"
    "  store double %sum, ptr %at\n"
    "  br label %get\n"
    "get:\n"
    "  %was = load double, ptr %p\n"
    "  br label %add\n"
    "add:\n"
    "  %before = phi double [%sum, %take], [%was, %get]\n"
    "  %behind = fadd double %before, %x\n"
    "  br label %next\n"
    "next:\n"
    "  %is = phi ptr [%at, %look], [%p, %add]\n"
    "  %total = phi double [%sum, %look], [%behind, %add]\n"
    "  %l = add i64 %k, 1\n"
    "  br label %head\n"
    "last:\n"
    "  %left = icmp ne ptr %at, null\n"
    "  br i1 %left, label %end, label %done\n"
    "end:\n"
    "  store double %sum, ptr %at\n"
    "  br label %done\n"
    "done:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.may_be_alike(ptr %flag, i64 %tid) alwaysinline nounwind {\n"
    "  %is = icmp eq i64 %tid, 0\n"
    "  br i1 %is, label %first, label %on\n"
    "first:\n"
    "  store i64 0, ptr %flag\n"
    "  br label %on\n"
    "on:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.look_alike(ptr %met, i64 %m, i64 %each, i64 %tid, i64 %threads, ptr %flag) alwaysinline "
    "nounwind {\n"
    "entry:\n"
    "  br label %head\n"
    "head:\n"
    "  %a = phi i64 [%tid, %entry], [%b, %next]\n"
    "  %more = icmp ult i64 %a, %each\n"
    "  br i1 %more, label %begin, label %done\n"
    "begin:\n"
    "  %one = getelementptr [2 x i64], ptr %met, i64 %a\n"
    "  %p = load i64, ptr %one\n"
    "  br label %rows\n"
    "rows:\n"
    "  %i = phi i64 [1, %begin], [%j, %same]\n"
    "  %k = phi i64 [%a, %begin], [%l, %same]\n"
    "  %left = icmp ult i64 %i, %m\n"
    "  br i1 %left, label %row, label %next\n"
    "row:\n"
    "  %l = add i64 %k, %each\n"
    "  %other = getelementptr [2 x i64], ptr %met, i64 %l\n"
    "  %q = load i64, ptr %other\n"
    "  %is = icmp eq i64 %p, %q\n"
    "  br i1 %is, label %same, label %differ\n"
    "same:\n"
    "  %j = add i64 %i, 1\n"
    "  br label %rows\n"
    "differ:\n"
    "  store i64 1, ptr %flag\n"
    "  br label %done\n"
    "next:\n"
    "  %b = add i64 %a, %threads\n"
    "  br label %head\n"
    "done:\n"
    "  ret void\n"
    "}\n"
    "define i64 @rvm.device.find_same(ptr %met, i64 %p, i64 %from, i64 %to) alwaysinline nounwind {\n"
    "entry:\n"
    "  br label %head\n"
    "head:\n"
    "  %a = phi i64 [%from, %entry], [%b, %next]\n"
    "  %more = icmp ult i64 %a, %to\n"
    "  br i1 %more, label %look, label %done\n"
    "look:\n"
    "  %one = getelementptr [2 x i64], ptr %met, i64 %a\n"
    "  %q = load i64, ptr %one\n"
    "  %is = icmp eq i64 %p, %q\n"
    "  br i1 %is, label %done, label %next\n"
    "next:\n"
    "  %b = add i64 %a, 1\n"
    "  br label %head\n"
    "done:\n"
    "  ret i64 %a\n"
    "}\n"
    "define void @rvm.device.link_same(ptr %met, i64 %each, i64 %tid, i64 %threads) alwaysinline nounwind {\n"
    "entry:\n"
    "  %second = getelementptr [2 x i64], ptr %met, i64 %each\n"
    "  br label %head\n"
    "head:\n"
    "  %a = phi i64 [%tid, %entry], [%b, %look]\n"
    "  %more = icmp ult i64 %a, %each\n"
    "  br i1 %more, label %look, label %done\n"
    "look:\n"
    "  %one = getelementptr [2 x i64], ptr %met, i64 %a\n"
    "  %p = load i64, ptr %one\n"
    "  %before = call i64 @rvm.device.find_same(ptr %met, i64 %p, i64 0, i64 %a)\n"
    "  %follows = icmp ult i64 %before, %a\n"
    "  %b1 = add i64 %a, 1\n"
    "  %behind = call i64 @rvm.device.find_same(ptr %met, i64 %p, i64 %b1, i64 %each)\n"
    "  %any = icmp ult i64 %behind, %each\n"
    "  %then = select i1 %any, i64 %behind, i64 0\n"
    "  %none = icmp eq i64 %p, 0\n"
    "  %skip = or i1 %follows, %none\n"
    "  %mark = select i1 %skip, i64 -9223372036854775808, i64 0\n"
    "  %link = or i64 %then, %mark\n"
    "  %to = getelementptr [2 x i64], ptr %second, i64 %a\n"
    "  store i64 %link, ptr %to\n"
    "  %b = add i64 %a, %threads\n"
    "  br label %head\n"
    "done:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.add_alike(ptr %met, i64 %m, i64 %each, i64 %tid, i64 %threads) alwaysinline nounwind {\n"
    "entry:\n"
    "  %second = getelementptr [2 x i64], ptr %met, i64 %each\n"
    "  br label %head\n"
    "head:\n"
    "  %a = phi i64 [%tid, %entry], [%b, %next]\n"
    "  %more = icmp ult i64 %a, %each\n"
    "  br i1 %more, label %look, label %done\n"
    "look:\n"
    "  %links = getelementptr [2 x i64], ptr %second, i64 %a\n"
    "  %link = load i64, ptr %links\n"
    "  %follows = icmp slt i64 %link, 0\n"
    "  br i1 %follows, label %next, label %begin\n"
    "begin:\n"
    "  %one = getelementptr [2 x i64], ptr %met, i64 %a\n"
    "  %p = load ptr, ptr %one\n"
    "  %was = load double, ptr %p\n"
    "  %alone = icmp eq i64 %link, 0\n"
    "  br i1 %alone, label %rows, label %chain\n"
    "rows:\n"
    "  %i = phi i64 [0, %begin], [%j, %row]\n"
    "  %k = phi i64 [%a, %begin], [%l, %row]\n"
    "  %s = phi double [%was, %begin], [%t, %row]\n"
    "  %left = icmp ult i64 %i, %m\n"
    "  br i1 %left, label %row, label %put\n"
    "row:\n"
    "  %entry.of = getelementptr [2 x i64], ptr %met, i64 %k\n"
    "  %where = getelementptr i8, ptr %entry.of, i64 8\n"
    "  %x = load double, ptr %where\n"
    "  %t = fadd double %s, %x\n"
    "  %j = add i64 %i, 1\n"
    "  %l = add i64 %k, %each\n"
    "  br label %rows\n"
    "chain:\n"
    "  %ci = phi i64 [0, %begin], [%cj, %chained]\n"
    "  %ck = phi i64 [0, %begin], [%cl, %chained]\n"
    "  %cs = phi double [%was, %begin], [%ct, %chained]\n"
    "  %cleft = icmp ult i64 %ci, %m\n"
    "  br i1 %cleft, label %links.head, label %put\n"
    "links.head:\n"
    "  %q = phi i64 [%a, %chain], [%r, %links.head]\n"
    "  %u = phi double [%cs, %chain], [%ct, %links.head]\n"
    "  %ckq = add i64 %ck, %q\n"
    "  %centry = getelementptr [2 x i64], ptr %met, i64 %ckq\n"
    "  %cwhere = getelementptr i8, ptr %centry, i64 8\n"
    "  %cx = load double, ptr %cwhere\n"
    "  %ct = fadd double %u, %cx\n"
    "  %clinks = getelementptr [2 x i64], ptr %second, i64 %q\n"
    "  %clink = load i64, ptr %clinks\n"
    "  %r = and i64 %clink, 9223372036854775807\n"
    "  %ends = icmp eq i64 %r, 0\n"
    "  br i1 %ends, label %chained, label %links.head\n"
    "chained:\n"
    "  %cj = add i64 %ci, 1\n"
    "  %cl = add i64 %ck, %each\n"
    "  br label %chain\n"
    "put:\n"
    "  %sum = phi double [%s, %rows], [%cs, %chain]\n"
    "  store double %sum, ptr %p\n"
    "  br label %next\n"
    "next:\n"
    "  %b = add i64 %a, %threads\n"
    "  br label %head\n"
    "done:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.add_together(ptr %p, i64 %x, i32 %lane) alwaysinline convergent nounwind {\n"
    "  %a = call i64 @rvm.device.exchange(i64 %x, i32 -1, i32 16)\n"
    "  %s = add i64 %x, %a\n"
    "  %b = call i64 @rvm.device.exchange(i64 %s, i32 -1, i32 8)\n"
    "  %t = add i64 %s, %b\n"
    "  %c = call i64 @rvm.device.exchange(i64 %t, i32 -1, i32 4)\n"
    "  %u = add i64 %t, %c\n"
    "  %d = call i64 @rvm.device.exchange(i64 %u, i32 -1, i32 2)\n"
    "  %v = add i64 %u, %d\n"
    "  %e = call i64 @rvm.device.exchange(i64 %v, i32 -1, i32 1)\n"
    "  %w = add i64 %v, %e\n"
    "  %first = icmp eq i32 %lane, 0\n"
    "  br i1 %first, label %add, label %on\n"
    "add:\n"
    "  %was = atomicrmw add ptr %p, i64 %w monotonic\n"
    "  br label %on\n"
    "on:\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.add_own(ptr %p, double %x) alwaysinline nounwind {\n"
    "  %q = addrspacecast ptr %p to ptr addrspace(1)\n"
    "  %was = load double, ptr addrspace(1) %q\n"
    "  %is = fadd double %was, %x\n"
    "  store double %is, ptr addrspace(1) %q\n"
    "  ret void\n"
    "}\n"
    "define void @rvm.device.sum_parts.f64" SUMS("double", "fadd", "-0.0") //
    "define void @rvm.device.sum_parts.i64" SUMS("i64", "add", "0")        //
    "define void @rvm.device.sum_tree.f64" TREE("double", "fadd")          //
    "define void @rvm.device.sum_tree.i64" TREE("i64", "add");

_Static_assert(offsetof(rvm__kernel_control, each) == 80 && offsetof(rvm__kernel_control, met) == 112,
               "as lacks_slots and lacks_met have them");
