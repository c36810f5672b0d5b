# shellcheck shell=sh
# shellcheck disable=SC2154,SC2016 # $work is run.sh's; backquotes are meant
# gradcheck from outside: wrong rules with their numbers, right ones with the
# points tried, what can't be decided said aloud.
data=demo/data

# Wrong rules are shown with a point, a direction and both numbers.
for name in swish huber bilinear; do
    expect 1 gradcheck "$data/${name}_rule_wrong.json.gz"
    prints "rule of \`$name\`: wrong\$"
    prints 'the rule gives .*, finite differences '
    prints '^1 program: 0 proved, 0 refuted, 1 witnessed, 0 undecided$'
done
prints '^error\[DRV002\] vjp-rule-wrong: '

# Right ones are never called proved: so many points without a disagreement.
for name in log1pexp_rule safe_norm_rule fixed_point_rule implicit_newton; do
    for seed in 0 1 2; do
        expect 0 gradcheck "$data/$name.json.gz" --seed "$seed"
        prints 'no disagreement at [1-9][0-9]* points ([0-9]* comparisons[^)]*)$'
        prints '^1 program: 0 proved, 0 refuted, 0 witnessed, 0 undecided$'
    done
done

# A sample of the program's inputs adds points where its rules are called.
sample=$data/odeint_adjoint.case0.npz
expect 0 gradcheck "$data/odeint_adjoint.0.json.gz" --inputs "$sample"
prints 'vjp rule of `_odeint`: no disagreement at '
expect 3 gradcheck "$data/huber_rule_wrong.json.gz" --inputs "$data/embedding_rotary.case0.npz"

# What gives no number in each of 2,048 elements takes no longer for each of them:
# that would be a quarter of a minute of processor time.
many=tests/data/xlogy_64x32
holds sh -c "ulimit -t 8; exec \"\$JAXVET\" gradcheck $many.json.gz --inputs $many.npz >\"$work/out\""
prints 'jvp rule of `xlogy`: no disagreement at '

# And so does what is off at the kink of each of 1,024 elements, as the function's own derivative
# is, or as a convention: a third of a minute.
for kinks in own of_both; do
    many=tests/data/kinks_${kinks}_32x32
    holds sh -c "ulimit -t 8; exec \"\$JAXVET\" gradcheck $many.json.gz --inputs $many.npz >\"$work/out\""
    prints 'jvp rule of .* no disagreement at '
done

# What can't be compared is undecided, and a failure under --strict.
expect 0 gradcheck "$data/odeint_pendulum.json.gz"
prints '^undecided\[DRV002\]'
prints ' 1 undecided$'
expect 5 gradcheck --strict "$data/odeint_pendulum.json.gz"

# Sizes can be chosen; the same call gives the same bytes.
expect 1 gradcheck "$data/huber_rule_wrong.json.gz" --set n=5
expect 2 gradcheck "$data/huber_rule_wrong.json.gz" --set q=5
expect 2 gradcheck "$data/huber_rule_wrong.json.gz" --set n=0
expect 2 gradcheck
expect 3 gradcheck demo/run.sh

# JSON lists what was not contradicted as what it is: an assumption.
expect 0 gradcheck --format json "$data/log1pexp_rule.json.gz"
prints '"assumptions":\["the jvp rule of `log1pexp` is right: identical over the reals at n = 3, error below 2^-[0-9]*, assuming that .*; no disagreement at '
expect 1 gradcheck --format json "$data/huber_rule_wrong.json.gz"
prints '"code":"DRV001"'
prints '"evidence":"execution"'
prints '"rules":\[{"path":"[^"]*","subject":"jvp rule of `huber`","outcome":"wrong","code":"DRV001","points":'

# Nothing to compare, or nothing that could be, is no success.
expect 0 gradcheck tests/rules/SHP010_fails.json.gz
prints 'SHP010_fails.json.gz: nothing was compared$'
expect 5 gradcheck --strict tests/rules/SHP010_fails.json.gz
expect 5 gradcheck --strict "$data/log1pexp_rule.json.gz" tests/rules/SHP010_fails.json.gz
expect 5 gradcheck --strict --format json tests/rules/SHP010_fails.json.gz
prints '"assumptions":\["nothing was compared"\]'
expect 0 gradcheck --strict "$data/log1pexp_rule.json.gz"

# Codes can be selected; one that is none is wrong usage.
expect 0 gradcheck "$data/huber_rule_wrong.json.gz" --ignore DRV001,DRV002
expect 1 gradcheck "$data/huber_rule_wrong.json.gz" --select DRV001
expect 0 gradcheck "$data/huber_rule_wrong.json.gz" --select DRV002
expect 2 gradcheck "$data/huber_rule_wrong.json.gz" --select DRV9
complains "no code is or begins with 'DRV9'"
