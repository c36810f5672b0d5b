# shellcheck shell=sh
# jaxvet check --jobs, --journal: work that is shared, processes that die, runs that are
# killed, ranks of mpirun.

many=$work/many
mkdir "$many"
i=0
for program in tests/rules/*1_fails.* tests/rules/*1_passes.*; do
    i=$((i + 1))
    cp "$program" "$many/$(printf '%03d' $i)_$(basename "$program")"
done
: >"$many/000_cut.mlir"
echo 'no program' >"$many/notes.txt"
fine=tests/host/scale.json

# The same bytes and exit code for any number of processes, in every format.
for format in text json sarif github; do
    expect 3 check "$many" --no-rules --format $format --jobs 1
    cp "$work/out" "$work/one.$format"
    cp "$work/err" "$work/one.err"
    for jobs in 2 5; do
        expect 3 check "$many" --no-rules --format $format --jobs $jobs
        holds cmp -s "$work/out" "$work/one.$format"
        holds cmp -s "$work/err" "$work/one.err"
    done
done
expect 0 check "$fine" "$fine" --jobs 2
prints '^2 programs: '
# shellcheck disable=SC2094 # it is read twice
expect 0 check "$fine" - --jobs 2 <"$fine"
expect 2 check "$fine" --jobs -1

# A journal: the second run makes nothing anew, whatever of its report is asked for.
journal=$work/journal
expect 3 check "$many" --no-rules --journal "$journal"
holds cmp -s "$work/out" "$work/one.text"
count=$(find "$journal" -name '*.result' | wc -l)
holds test "$count" -ge "$i"
holds test -z "$(find "$journal" -type f ! -name '*.result' ! -name all.lock)"
expect 3 check "$many" --no-rules --journal "$journal" --format json
holds cmp -s "$work/out" "$work/one.json"
holds test "$count" -eq "$(find "$journal" -name '*.result' | wc -l)"

# Another question has other results; damage, and a file that changed, are seen.
expect 3 check "$many" --no-rules --journal "$journal" --select SHP
holds test "$count" -lt "$(find "$journal" -name '*.result' | wc -l)"
for result in "$journal"/*.result; do
    printf 'damage' | dd of="$result" bs=1 seek=80 conv=notrunc 2>/dev/null
done
expect 3 check "$many" --no-rules --journal "$journal"
holds cmp -s "$work/out" "$work/one.text"
cp "$fine" "$work/changes.json"
expect 0 check "$work/changes.json" --journal "$journal"
echo >"$work/changes.json"
expect 3 check "$work/changes.json" --journal "$journal"
expect 3 check "$fine" --journal "$fine"
complains 'scale.json'

# A run that is killed loses nothing that is done: here all but a program that waits for
# a pipe's writer.
mkfifo "$work/pipe.json"
rm -r "$journal"
"$JAXVET" check "$many" "$work/pipe.json" --no-rules --jobs 2 --journal "$journal" >/dev/null 2>&1 &
run=$!
until [ "$(find "$journal" -name '*.result' 2>/dev/null | wc -l)" -ge "$i" ]; do sleep 0.05; done
kill -9 $run
wait $run 2>/dev/null
while pgrep -f "$work/pipe.json" >/dev/null; do sleep 0.05; done # its workers end with it
expect 3 check "$many" --no-rules --journal "$journal"
holds cmp -s "$work/out" "$work/one.text"

# of_waiting RUN [BUT] - the worker of the run that waits for the pipe's writer, when it
# is the only one, and not that one; those that have ended wait to be asked how.
of_waiting() {
    not=${2:-none}
    for _ in $(seq 200); do
        # shellcheck disable=SC2046 # a word for each
        set -- "$1" $(pgrep -r D,R,S -P "$1")
        if [ $# -eq 2 ] && [ "$2" != "$not" ]; then
            echo "$2"
            return
        fi
        sleep 0.05
    done
    echo "of_waiting: nobody waits" >&2
    kill -9 "$1"
    echo 999999999
}

# A worker that dies is named, its program tried once more, and the others are not lost.
"$JAXVET" check "$fine" "$work/pipe.json" --jobs 2 >"$work/out" 2>"$work/err" &
run=$!
first=$(of_waiting $run)
kill -KILL "$first"
of_waiting $run "$first" >"$work/second"
cat "$fine" >"$work/pipe.json"
wait $run
holds test $? -eq 0
prints '^2 programs: '
complains 'worker [12] ended with signal 9 .*pipe.json, which is tried once more'

# One that dies twice is an internal error, of that program.
"$JAXVET" check "$fine" "$work/pipe.json" --jobs 2 >"$work/out" 2>"$work/err" &
run=$!
first=$(of_waiting $run)
kill -KILL "$first"
kill -ABRT "$(of_waiting $run "$first")"
wait $run
holds test $? -eq 4
prints '^2 programs: '
complains 'pipe.json: the process for it ended twice, at last with signal 6'

# Ranks need a journal; the first alone reports, and exits with what there is to say.
# ranks CODE ARG... - three of them; the first exits with that code, the others with 0.
ranks() {
    code=$1
    shift
    export OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_LOCAL_SIZE=3 PMIX_NAMESPACE=job
    OMPI_COMM_WORLD_RANK=1 "$JAXVET" check "$@" >"$work/out.1" 2>"$work/err.1" &
    one=$!
    OMPI_COMM_WORLD_RANK=2 "$JAXVET" check "$@" >"$work/out.2" 2>"$work/err.2" &
    two=$!
    OMPI_COMM_WORLD_RANK=0 expect "$code" check "$@"
    wait $one
    holds test $? -eq 0
    wait $two
    holds test $? -eq 0
    unset OMPI_COMM_WORLD_SIZE OMPI_COMM_WORLD_LOCAL_SIZE PMIX_NAMESPACE
}
rm -r "$journal"
ranks 3 "$many" --no-rules --journal "$journal"
holds cmp -s "$work/out" "$work/one.text"
holds test ! -s "$work/out.1" -a ! -s "$work/err.2"
holds test -z "$(find "$journal" -type f ! -name '*.result' ! -name all.lock)"
ranks 3 "$many" --no-rules --journal "$journal"
holds cmp -s "$work/out" "$work/one.text"
ranks 2 "$fine"
complains 'give --journal DIR'
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
if command -v mpirun >/dev/null && mpirun --version | grep -q 'Open MPI' &&
    mpirun -n 2 --oversubscribe true >/dev/null 2>&1; then
    rm -r "$journal"
    mpirun -n 2 --oversubscribe "$JAXVET" check "$fine" "$many/001"* --no-rules --fail-on never \
        --journal "$journal" >"$work/out" 2>"$work/err"
    holds test $? -eq 0
    prints '^2 programs: '
else
    left_out "cli: test_jobs" "there is no Open MPI that starts anything" || fail "mpirun is not tested"
fi
