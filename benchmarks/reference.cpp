// The engine's yardstick: five policies of docs/reference/semantics.md as a C++ programmer would write them for one cluster of
// equal nodes, and nothing else. No log, no overheads, no queues, no priorities, no node failures, no models.
// The algorithms are the engine's (bitmaps of nodes by free GPUs, waiting jobs by class, an indexed event heap, eviction
// counted on paper, failed evictions remembered); the structures are the fastest that these policies allow: waiting jobs only
// ever leave from the front, so they stand in a deque or a binary heap; running jobs of srtf and las stand in a treap.
//
//     reference POLICY INPUT OUTPUT
// INPUT: int64 jobs, nodes, GPUs of a node, then submit[], work[] (ms) and gpus[]. OUTPUT: int64 start[], end[] (ms).
// Prints the CPU seconds of the run and how many jobs were preempted.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <queue>
#include <string>
#include <utility>
#include <vector>

using Id = int32_t;
using Ms = int64_t;
using Mask = uint64_t;
constexpr Ms NEVER = Ms(1) << 62;

inline int lowest(Mask word) { return __builtin_ctzll(word); }

struct Part { Id node, next, gpus; Mask mask; };

struct Job {
    Ms submit, left, settled, alarm, key, start, end;
    int64_t attained, started_pass;
    Id cls, gpus, part, level, event, smaller, larger, parent;
};

// ---- free GPUs -------------------------------------------------------------------------------------------------------------------

struct Cluster {
    int nodes, size, leaves, tops, free;
    Mask some = 0;  // bit k-1: some node has k free GPUs
    std::vector<Mask> free_mask, words;
    std::vector<int> free_on, count;

    Cluster(int nodes, int size)
        : nodes(nodes), size(size), leaves((nodes + 63) / 64), tops((leaves + 63) / 64), free(nodes * size),
          free_mask(nodes, size == 64 ? ~Mask(0) : (Mask(1) << size) - 1), words((size + 1) * (leaves + tops)),
          free_on(nodes, size), count(size + 1) {
        for (Id n = 0; n < nodes; n++) enter(size, n);
    }
    void enter(int k, Id n) {
        Mask* base = &words[k * (leaves + tops)];
        base[tops + (n >> 6)] |= Mask(1) << (n & 63);
        base[n >> 12] |= Mask(1) << ((n >> 6) & 63);
        count[k]++;
        if (k) some |= Mask(1) << (k - 1);
    }
    void leave(int k, Id n) {
        Mask* base = &words[k * (leaves + tops)];
        Mask& leaf = base[tops + (n >> 6)];
        leaf &= ~(Mask(1) << (n & 63));
        if (!leaf) base[n >> 12] &= ~(Mask(1) << ((n >> 6) & 63));
        if (--count[k] == 0 && k) some &= ~(Mask(1) << (k - 1));
    }
    Id first(int k) const {
        const Mask* base = &words[k * (leaves + tops)];
        int t = 0;
        while (!base[t]) t++;
        int leaf = t * 64 + lowest(base[t]);
        return leaf * 64 + lowest(base[tops + leaf]);
    }
    void reindex(Id n, int k) {
        leave(free_on[n], n);
        enter(k, n);
        free += k - free_on[n];
        free_on[n] = k;
    }
    void take(Id n, Mask mask, int k) { free_mask[n] &= ~mask; reindex(n, free_on[n] - k); }
    void give(Id n, Mask mask, int k) { free_mask[n] |= mask; reindex(n, free_on[n] + k); }

    int nodes_with(int k) const {
        int n = 0;
        for (; k <= size; k++) n += count[k];
        return n;
    }
    bool fits(int gpus) const {
        if (gpus > free) return false;
        if (gpus <= size) return some >> (gpus - 1);
        int whole = gpus / size, rest = gpus % size;
        return count[size] >= whole && (rest == 0 || nodes_with(rest) > whole);
    }
    std::pair<Id, Mask> take_lowest(Id n, int k) {
        Mask left = free_mask[n];
        for (int i = 0; i < k; i++) left &= left - 1;
        Mask mask = free_mask[n] & ~left;
        take(n, mask, k);
        return {n, mask};
    }
    template <class Hold> void place(int gpus, Hold hold) {
        for (; gpus > size; gpus -= size) hold(take_lowest(first(size), size));
        if (gpus) hold(take_lowest(first(lowest(some >> (gpus - 1)) + gpus), gpus));
    }
};

// ---- indexes of jobs -------------------------------------------------------------------------------------------------------------

struct InOrder {  // keys never fall behind what already waits: submit order
    std::deque<Id> jobs;
    bool empty() const { return jobs.empty(); }
    std::pair<Ms, Id> top() const { return {0, jobs.front()}; }
    void push(Ms, Id j) { jobs.push_back(j); }
    void pop() { jobs.pop_front(); }
};

struct ByKey {
    std::priority_queue<std::pair<Ms, Id>, std::vector<std::pair<Ms, Id>>, std::greater<>> jobs;
    bool empty() const { return jobs.empty(); }
    std::pair<Ms, Id> top() const { return jobs.top(); }
    void push(Ms key, Id j) { jobs.emplace(key, j); }
    void pop() { jobs.pop(); }
};

struct Treap {  // running jobs by (key, row), threaded through the job records
    std::vector<Job>& jobs;
    Id root = -1, last = -1;

    static uint32_t heat(uint32_t x) { x *= 2654435761u; x ^= x >> 16; x *= 73244475u; return x ^ (x >> 16); }
    bool before(Id a, Id b) const { return jobs[a].key != jobs[b].key ? jobs[a].key < jobs[b].key : a < b; }
    void replace(Id parent, Id old, Id now) {
        if (parent < 0) root = now;
        else (jobs[parent].smaller == old ? jobs[parent].smaller : jobs[parent].larger) = now;
        if (now >= 0) jobs[now].parent = parent;
    }
    void lift(Id j) {
        Id p = jobs[j].parent;
        replace(jobs[p].parent, p, j);
        bool left = jobs[p].smaller == j;
        Id& inner = left ? jobs[j].larger : jobs[j].smaller;
        (left ? jobs[p].smaller : jobs[p].larger) = inner;
        if (inner >= 0) jobs[inner].parent = p;
        inner = p;
        jobs[p].parent = j;
    }
    void insert(Id j) {
        Job& J = jobs[j];
        J.smaller = J.larger = J.parent = -1;
        if (root < 0) { root = last = j; return; }
        if (before(last, j)) {
            jobs[last].larger = j;
            J.parent = last;
            last = j;
        } else {
            Id x = root, p = -1;
            bool left = false;
            while (x >= 0) {
                p = x;
                left = before(j, x);
                x = left ? jobs[x].smaller : jobs[x].larger;
            }
            (left ? jobs[p].smaller : jobs[p].larger) = j;
            J.parent = p;
        }
        while (J.parent >= 0 && heat(j) < heat(J.parent)) lift(j);
    }
    Id preceding(Id j) const {
        Id x = jobs[j].smaller;
        if (x >= 0) {
            while (jobs[x].larger >= 0) x = jobs[x].larger;
            return x;
        }
        Id p = jobs[j].parent;
        while (p >= 0 && jobs[p].smaller == j) j = p, p = jobs[p].parent;
        return p;
    }
    void remove(Id j) {
        if (last == j) last = preceding(j);
        Job& J = jobs[j];
        while (J.smaller >= 0 && J.larger >= 0) lift(heat(J.smaller) < heat(J.larger) ? J.smaller : J.larger);
        replace(J.parent, j, J.smaller >= 0 ? J.smaller : J.larger);
    }
};

struct Events {  // an indexed binary heap: at most one entry for each job, by (time, kind, row)
    struct Entry { Ms time; int64_t order; };
    std::vector<Job>& jobs;
    std::vector<Entry> heap;

    static bool less(const Entry& a, const Entry& b) { return a.time != b.time ? a.time < b.time : a.order < b.order; }
    static Id row(const Entry& e) { return Id(e.order & 0xFFFFFFFF); }
    void put(size_t i, Entry e) { heap[i] = e; jobs[row(e)].event = Id(i); }
    void up(size_t i, Entry e) {
        for (; i > 0 && less(e, heap[(i - 1) / 2]); i = (i - 1) / 2) put(i, heap[(i - 1) / 2]);
        put(i, e);
    }
    void down(size_t i, Entry e) {
        for (size_t c; (c = 2 * i + 1) < heap.size(); i = c) {
            if (c + 1 < heap.size() && less(heap[c + 1], heap[c])) c++;
            if (!less(heap[c], e)) break;
            put(i, heap[c]);
        }
        put(i, e);
    }
    void set(Id j, Ms time, int kind) {
        Entry e{time, int64_t(kind) << 32 | j};
        Id i = jobs[j].event;
        if (i < 0) heap.push_back(e), up(heap.size() - 1, e);
        else if (less(e, heap[i])) up(i, e);
        else down(i, e);
    }
    void remove(Id j) {
        size_t i = jobs[j].event;
        jobs[j].event = -1;
        Entry e = heap.back();
        heap.pop_back();
        if (i == heap.size()) return;
        if (i > 0 && less(e, heap[(i - 1) / 2])) up(i, e);
        else down(i, e);
    }
};

// ---- failed evictions, remembered ------------------------------------------------------------------------------------------------

constexpr int64_t RING = 1024;

struct Paper { int64_t attempt = 0; int free = 0; };
struct Failure { int64_t at = -1; Ms key = 0; int lacking = 1; bool lacks_whole = false; };

// ---- the simulation --------------------------------------------------------------------------------------------------------------

enum Kind { FINISH, LEVEL };

template <class Policy> struct Simulation {
    static constexpr bool preemptive = Policy::preemptive;
    std::vector<Job> jobs;
    Cluster cluster;
    std::vector<int> widths;  // GPUs of each class
    std::vector<typename Policy::Waiting> waiting;
    Events events{jobs, {}};
    Treap running{jobs};
    std::vector<Part> parts;
    std::vector<Id> occupant, victims;
    std::vector<std::pair<Id, Mask>> placed;
    std::vector<Id> freed = std::vector<Id>(RING);
    std::vector<Failure> failures;
    std::vector<Paper> paper;  // free GPUs of nodes if the victims of this attempt were released
    int64_t freed_count = 0, attempt = 0, pass = 0, preemptions = 0;
    Id free_part = -1, arrived = 0;
    Ms now = 0;

    Simulation(std::vector<Job> trace, std::vector<int> widths, int nodes, int size)
        : jobs(std::move(trace)), cluster(nodes, size), widths(widths), waiting(Policy::by_class ? widths.size() : 1),
          occupant(preemptive ? nodes * size : 0, -1), failures(widths.size()), paper(nodes) {
        events.heap.reserve(nodes * size);
        parts.reserve(nodes * size);
    }

    void bind(Id j) {
        for (auto& [node, mask] : placed) {
            Id p = free_part;
            if (p < 0) p = Id(parts.size()), parts.push_back({});
            else free_part = parts[p].next;
            parts[p] = {node, jobs[j].part, __builtin_popcountll(mask), mask};
            jobs[j].part = p;
            if constexpr (preemptive)
                for (Mask m = mask; m; m &= m - 1) occupant[node * cluster.size + lowest(m)] = j;
        }
        placed.clear();
    }
    void unbind(Id j, bool index) {
        for (Id p = jobs[j].part, next; p >= 0; p = next) {
            Part& P = parts[p];
            if (index) cluster.give(P.node, P.mask, P.gpus);
            if constexpr (preemptive) {
                for (Mask m = P.mask; m; m &= m - 1) occupant[P.node * cluster.size + lowest(m)] = -1;
                note_freed(P.node);
            }
            next = P.next;
            P.next = free_part;
            free_part = p;
        }
        jobs[j].part = -1;
    }
    void place(Id j) {
        cluster.place(jobs[j].gpus, [&](std::pair<Id, Mask> part) { placed.push_back(part); });
    }
    void wait(Id j) {
        Policy::enter(*this, j);
        waiting[Policy::by_class ? jobs[j].cls : 0].push(jobs[j].key, j);
    }
    void commence(Id j) {  // on the GPUs in `placed`, from the front of its index
        Job& J = jobs[j];
        waiting[Policy::by_class ? J.cls : 0].pop();
        bind(j);
        if (J.start < 0) J.start = now;
        J.settled = now;
        J.started_pass = pass;
        if constexpr (preemptive) {
            J.key = Policy::running_key(*this, j);
            running.insert(j);
        }
        schedule(j);
    }
    void schedule(Id j) {
        Job& J = jobs[j];
        J.alarm = Policy::alarm(*this, j);
        Ms finish = J.settled + J.left;
        if (finish <= J.alarm) events.set(j, finish, FINISH);
        else events.set(j, J.alarm, LEVEL);
    }
    void settle(Id j) {
        Job& J = jobs[j];
        J.left -= now - J.settled;
        J.attained += J.gpus * (now - J.settled);
        J.settled = now;
    }

    // -- eviction --
    void note_freed(Id node) { freed[freed_count++ & (RING - 1)] = node; }
    bool still_free(Id v) const {
        for (Id p = jobs[v].part; p >= 0; p = parts[p].next)
            if (parts[p].mask & ~cluster.free_mask[parts[p].node]) return false;
        return true;
    }
    void release(Id v) {
        for (Id p = jobs[v].part; p >= 0; p = parts[p].next)
            cluster.give(parts[p].node, parts[p].mask, parts[p].gpus);
    }
    void take_back(Id v) {
        for (Id p = jobs[v].part; p >= 0; p = parts[p].next)
            cluster.take(parts[p].node, parts[p].mask, parts[p].gpus);
    }
    void preempt(Id v) {
        settle(v);
        running.remove(v);
        events.remove(v);
        unbind(v, false);
        preemptions++;
        wait(v);
    }
    int could_free(Id node, Ms bar) const {
        int n = 0;
        for (int i = 0; i < cluster.size; i++) {
            Id v = occupant[node * cluster.size + i];
            n += v < 0 || jobs[v].key > bar;
        }
        return n;
    }
    bool will_fail(Id j, Ms bar) {
        Job& J = jobs[j];
        Failure& F = failures[J.cls];
        int64_t since = freed_count - F.at;
        if (F.at < 0 || since > RING || J.key < F.key) return false;
        int enough = J.gpus <= cluster.size ? J.gpus : F.lacks_whole ? cluster.size : J.gpus % cluster.size;
        int found = 0;
        for (int64_t i = F.at; i < freed_count; i++) found += could_free(freed[i & (RING - 1)], bar) >= enough;
        if (found >= F.lacking) return false;
        F = {freed_count, J.key, F.lacking - found, F.lacks_whole};
        return true;
    }
    bool count_victims(Id j, Ms bar) {  // whom to release, worst first, until j fits: by counting GPUs on nodes
        const int gpus = jobs[j].gpus, size = cluster.size;
        const int whole = gpus > size ? gpus / size : 0, rest = gpus - whole * size;
        int have_whole = cluster.count[size], have_rest = rest ? cluster.nodes_with(rest) : 0;
        attempt++;
        victims.clear();
        for (Id v = running.last; v >= 0 && jobs[v].key > bar; v = running.preceding(v)) {
            if (jobs[v].started_pass == pass) continue;
            victims.push_back(v);
            for (Id p = jobs[v].part; p >= 0; p = parts[p].next) {
                Paper& P = paper[parts[p].node];
                if (P.attempt != attempt) P = {attempt, cluster.free_on[parts[p].node]};
                int before = P.free;
                P.free += parts[p].gpus;
                have_whole += P.free == size;
                have_rest += before < rest && P.free >= rest;
            }
            if (have_whole >= whole && (rest == 0 || have_rest > whole)) {
                if (whole == 0) keep_those_beside(v);
                return true;
            }
        }
        int lacking = whole - have_whole;
        failures[jobs[j].cls] = {freed_count, jobs[j].key, lacking > 1 ? lacking : 1, lacking > 0};
        return false;
    }
    void keep_those_beside(Id last) {  // the gang goes to a node of the last victim; whoever has none of its nodes would be spared
        attempt++;
        for (Id p = jobs[last].part; p >= 0; p = parts[p].next) paper[parts[p].node].attempt = attempt;
        auto elsewhere = [&](Id v) {
            for (Id p = jobs[v].part; p >= 0; p = parts[p].next)
                if (paper[parts[p].node].attempt == attempt) return false;
            return true;
        };
        victims.erase(std::remove_if(victims.begin(), victims.end(), elsewhere), victims.end());
    }
    bool start_or_evict(Id j, Ms bar) {
        if (cluster.fits(jobs[j].gpus)) {
            place(j);
            commence(j);
            return true;
        }
        if (will_fail(j, bar) || !count_victims(j, bar)) return false;
        for (Id v : victims) release(v);
        place(j);
        for (size_t i = victims.size(); i-- > 0;)
            if (still_free(victims[i])) take_back(victims[i]), victims[i] = -1;
        commence(j);
        for (Id v : victims)
            if (v >= 0) preempt(v);
        return true;
    }

    // -- events --
    void finish(Id j) {
        events.remove(j);
        unbind(j, true);
        if constexpr (preemptive) running.remove(j);
        jobs[j].end = now;
    }
    void sink(Id j) {
        if constexpr (preemptive) {
            settle(j);
            running.remove(j);
            jobs[j].key = Policy::running_key(*this, j);
            running.insert(j);
            for (Id p = jobs[j].part; p >= 0; p = parts[p].next) note_freed(parts[p].node);
            schedule(j);
        }
    }
    void run() {
        Id n = Id(jobs.size());
        while (arrived < n || !events.heap.empty()) {
            now = events.heap.empty() ? NEVER : events.heap[0].time;
            if (arrived < n && jobs[arrived].submit < now) now = jobs[arrived].submit;
            pass++;
            while (!events.heap.empty() && events.heap[0].time <= now) {
                Id j = Events::row(events.heap[0]);
                if (events.heap[0].order >> 32 == FINISH) finish(j);
                else sink(j);
            }
            for (; arrived < n && jobs[arrived].submit <= now; arrived++) wait(arrived);
            Policy::decide(*this);
        }
    }
};

// ---- policies --------------------------------------------------------------------------------------------------------------------

struct NeverSinks {
    template <class S> static Ms alarm(S&, Id) { return NEVER; }
};

template <class Index> struct Strict : NeverSinks {  // the head blocks
    using Waiting = Index;
    static constexpr bool preemptive = false, by_class = false;
    template <class S> static void enter(S& s, Id j) { s.jobs[j].key = s.jobs[j].left; }
    template <class S> static void decide(S& s) {
        while (!s.waiting[0].empty()) {
            Id j = s.waiting[0].top().second;
            if (!s.cluster.fits(s.jobs[j].gpus)) return;
            s.place(j);
            s.commence(j);
        }
    }
};

template <class S> Id first_waiting(S& s, int below) {  // among the classes narrower than `below`
    std::pair<Ms, Id> best{NEVER, -1};
    for (size_t c = 0; c < s.waiting.size(); c++)
        if (s.widths[c] < below && !s.waiting[c].empty() && s.waiting[c].top() < best) best = s.waiting[c].top();
    return best.second;
}

struct FifoBackfill : NeverSinks {
    using Waiting = InOrder;
    static constexpr bool preemptive = false, by_class = true;
    template <class S> static void enter(S&, Id) {}
    template <class S> static void decide(S& s) {
        if (s.cluster.free == 0) return;
        int below = 1 << 30;  // what is at least as wide does not fit
        for (Id j; (j = first_waiting(s, below)) >= 0;) {
            if (s.cluster.fits(s.jobs[j].gpus)) s.place(j), s.commence(j);
            else below = s.jobs[j].gpus;
        }
    }
};

template <class S> void start_or_evict_in_order(S& s, bool remaining) {
    int below = 1 << 30;
    for (Id j; (j = first_waiting(s, below)) >= 0;)
        if (!s.start_or_evict(j, s.jobs[j].key + (remaining ? s.now : 0))) below = s.jobs[j].gpus;
}

struct Srtf : NeverSinks {
    using Waiting = ByKey;
    static constexpr bool preemptive = true, by_class = true;
    template <class S> static void enter(S& s, Id j) { s.jobs[j].key = s.jobs[j].left; }
    template <class S> static Ms running_key(S& s, Id j) { return s.jobs[j].settled + s.jobs[j].left; }
    template <class S> static void decide(S& s) { start_or_evict_in_order(s, true); }
};

struct Las {
    using Waiting = ByKey;
    static constexpr bool preemptive = true, by_class = true;
    static constexpr int64_t threshold = 28'800'000;  // GPU-ms
    template <class S> static Ms running_key(S& s, Id j) { return s.jobs[j].level = s.jobs[j].attained >= threshold; }
    template <class S> static void enter(S& s, Id j) { s.jobs[j].key = running_key(s, j); }
    template <class S> static Ms alarm(S& s, Id j) {
        Job& J = s.jobs[j];
        return J.level ? NEVER : s.now + (threshold - J.attained + J.gpus - 1) / J.gpus;
    }
    template <class S> static void decide(S& s) { start_or_evict_in_order(s, false); }
};

// ---- input and output ------------------------------------------------------------------------------------------------------------

static double cpu_s() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void check(bool ok, const char* what) {
    if (ok) return;
    fprintf(stderr, "reference: %s\n", what);
    exit(1);
}

template <class Policy>
static void simulate(std::vector<Job> trace, std::vector<int> widths, int nodes, int size, const char* output) {
    Simulation<Policy> s(std::move(trace), widths, nodes, size);
    double began = cpu_s();
    s.run();
    double seconds = cpu_s() - began;
    FILE* f = fopen(output, "wb");
    check(f, "cannot write the output");
    for (Job& J : s.jobs) fwrite(&J.start, sizeof J.start, 1, f);
    for (Job& J : s.jobs) fwrite(&J.end, sizeof J.end, 1, f);
    check(fclose(f) == 0, "cannot write the output");
    printf("%.6f %lld\n", seconds, (long long)s.preemptions);
}

int main(int argc, char** argv) {
    check(argc == 4, "usage: reference POLICY INPUT OUTPUT");
    FILE* f = fopen(argv[2], "rb");
    int64_t head[3];
    check(f && fread(head, sizeof head, 1, f) == 1, "cannot read the input");
    std::vector<int64_t> columns(3 * head[0]);
    check(fread(columns.data(), sizeof(int64_t), columns.size(), f) == columns.size(), "the input is cut");
    fclose(f);
    std::vector<Job> jobs(head[0]);
    std::vector<int> widths;
    for (int64_t j = 0; j < head[0]; j++) {
        int gpus = int(columns[2 * head[0] + j]);
        Id c = 0;
        while (c < Id(widths.size()) && widths[c] != gpus) c++;
        if (c == Id(widths.size())) widths.push_back(gpus);
        jobs[j] = {columns[j], columns[head[0] + j], 0, NEVER, 0, -1, -1, 0, -1, c, gpus, -1, 0, -1, -1, -1, -1};
    }
    columns = {};
    std::string policy = argv[1];
    int nodes = int(head[1]), size = int(head[2]);
    if (policy == "fifo") simulate<Strict<InOrder>>(jobs, widths, nodes, size, argv[3]);
    else if (policy == "sjf") simulate<Strict<ByKey>>(jobs, widths, nodes, size, argv[3]);
    else if (policy == "fifo-backfill") simulate<FifoBackfill>(jobs, widths, nodes, size, argv[3]);
    else if (policy == "srtf") simulate<Srtf>(jobs, widths, nodes, size, argv[3]);
    else if (policy == "las") simulate<Las>(jobs, widths, nodes, size, argv[3]);
    else check(false, "unknown policy");
}
