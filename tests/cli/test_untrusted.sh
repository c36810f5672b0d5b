# shellcheck shell=sh
# shellcheck disable=SC2154 # $work is run.sh's
# Whose source is read, and what it may suppress: the program names its files,
# and is not to be believed.
mkdir -p "$work/here/src" "$work/other" "$work/far"
gzip -dc tests/rules/SHP010_fails.json.gz >"$work/plain.json"
# names FILE [EMBEDDED] - the program, its source in that file.
names() {
    python3 - "$work/plain.json" "$work/here/p.json" "$@" <<'PY'
import json, sys
given = json.load(open(sys.argv[1]))
for file in given["files"]:
    if file[0] == "SHP010_fails.py":
        file[:] = [sys.argv[3], "user", *([{"3": sys.argv[4]}] if sys.argv[4:] else [])]
json.dump(given, open(sys.argv[2], "w"))
PY
}
home=$(pwd)
# expect_here CODE ARG... - check there, from within.
expect_here() {
    cd "$work/here" || exit 1
    expect "$@"
    cd "$home" || exit 1
}
shows() { prints '^ 3 | *SECRET'; }
hides() { if grep -q SECRET "$work/out"; then fail "it shows what it should not"; else pass; fi; }
printf 'one\ntwo\n    SECRET = 1\n' >"$work/far/secret.py"
cp "$work/far/secret.py" "$work/here/src/m.py"
cp "$work/far/secret.py" "$work/here/top.py"

# Below the working directory, however it is written.
for path in top.py ./top.py src/m.py src/../src/./m.py src//m.py "$work/here/src/m.py" \
    "$work/here/./src/../src/m.py"; do
    names "$path"
    expect_here 1 check p.json
    shows
done
ln -s here "$work/link"
names "$work/link/src/m.py"
cd "$work/link" && expect 1 check p.json
cd "$home" || exit 1
shows

# Not above it, nor beside it, by `..`, as an absolute path, or by a link.
ln -s ../../far/secret.py "$work/here/src/out.py"
ln -s "$work/far/secret.py" "$work/here/src/absolute.py"
ln -s ../far "$work/here/folder"
ln -s loop.py "$work/here/loop.py"
ln -s src/../.. "$work/here/up"
for path in ../far/secret.py "$work/far/secret.py" src/../../far/secret.py \
    "$work/here/../far/secret.py" src/out.py src/absolute.py folder/secret.py \
    up/far/secret.py loop.py /proc/self/cwd/top.py "$work/heretop.py" '' . .. / src; do
    names "$path"
    expect_here 1 check p.json
    hides
done
# A link that stays is no harm.
ln -s src/../src/m.py "$work/here/stays.py"
ln -s src "$work/here/also"
for path in stays.py also/m.py; do
    names "$path"
    expect_here 1 check p.json
    shows
done

# No regular file, an endless one, one that is too large: none of them waits.
mkfifo "$work/here/pipe.py"
head -c 4194305 /dev/zero | tr '\0' '\n' >"$work/here/large.py"
ln -s /dev/zero "$work/here/zero.py"
for path in pipe.py large.py zero.py /proc/kmsg /dev/stdin /proc/self/status /dev/tty; do
    names "$path"
    expect_here 1 check p.json </dev/null
    hides
done
# Not even from there.
names kmsg
cd /proc && expect 1 check "$work/here/p.json" --source-root /proc/self
names self/status
expect 1 check "$work/here/p.json" --source-root /proc
cd "$home" || exit 1
if grep -q '^ *3 |' "$work/out"; then fail "shows what the system says"; else pass; fi

# More folders.
names ../far/secret.py
expect_here 1 check p.json --source-root ../far
hides
names secret.py
expect_here 1 check p.json --source-root ../far
shows
names "$work/far/secret.py"
expect_here 1 check p.json --source-root "$work/other" --source-root ../far/
shows
expect_here 2 check p.json --source-root nowhere
complains 'source-root nowhere: No such file or directory'

# The file, else the embedded line, else none.
names src/m.py 'EMBEDDED'
expect_here 1 check p.json
shows
names gone.py 'EMBEDDED'
expect_here 1 check p.json
prints '^ 3 | EMBEDDED$'

# Suppressions: from such files alone.
ignore='x = 1  # jaxvet: ignore[SHP010] so says the program'
names gone.py "$ignore"
expect_here 1 check p.json
expect_here 0 check p.json --trust-embedded
prints 'suppressed'
printf 'one\ntwo\n%s\n' "$ignore" >"$work/here/hushed.py"
cp "$work/here/hushed.py" "$work/far/hushed.py"
for embedded in '' "$ignore" 'EMBEDDED'; do
    names hushed.py "$embedded"
    expect_here 0 check p.json
    prints '^1 finding is suppressed by a comment$'
done
names src/m.py "$ignore" # the file has no such comment
expect_here 1 check p.json
names ../far/hushed.py
expect_here 1 check p.json
names "$work/far/hushed.py"
expect_here 1 check p.json
expect_here 0 check p.json --source-root ../far

# A line as long as a file, and one that is all escapes.
python3 -c "print('a\nb\n' + 'x' * 3000000)" >"$work/here/long.py"
names long.py
expect_here 1 check p.json
holds test "$(wc -c <"$work/out")" -lt 4000
python3 -c "import sys; sys.stdout.buffer.write(b'a\nb\n' + bytes(c for c in range(256) if c != 10) * 9)" \
    >"$work/here/bytes.py"
names bytes.py
expect_here 1 check p.json
if LC_ALL=C tr -d '\n' <"$work/out" | LC_ALL=C grep -q '[^ -~]'; then fail "raw bytes of a source"; else pass; fi
