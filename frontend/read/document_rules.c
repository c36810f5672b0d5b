/* document_rules.c - custom rules of a document, and the comparisons of sizes
 * that JAX decided while tracing. */
#include "frontend/read/document_parts.h"

#include <string.h>

/* "010"; of `count` characters, unless that is negative. */
static const char *read_mask(jx_doc *d, const jx_node *at, int count)
{
    const char *text = jx_node_text(&d->walk, at);

    if (!text || d->walk.failed)
        return NULL;
    if (strspn(text, "01") != strlen(text))
        jx_node_fail(&d->walk, at, "expected a text of 0 and 1");
    else if (count >= 0 && strlen(text) != (size_t)count)
        jx_node_fail(&d->walk, at, "expected %d characters, found %zu", count,
                     strlen(text));
    return text;
}

static int zeros_in(const char *mask)
{
    int n = 0;

    for (; mask && *mask; mask++)
        n += *mask == '1';
    return n;
}

static bool takes(jx_doc *d, const jx_node *at, const jx_closed *closed,
                  int nins, int nouts)
{
    if (!closed->jaxpr ||
        (closed->jaxpr->nins == nins && closed->jaxpr->nouts == nouts))
        return true;
    return jx_node_fail(&d->walk, at,
                        "expected a jaxpr of %d inputs and %d outputs, found "
                        "%d and %d",
                        nins, nouts, closed->jaxpr->nins, closed->jaxpr->nouts);
}

static void read_jvp(jx_doc *d, const jx_node *at, const jx_rule *rule,
                     jx_rule_pattern *to)
{
    jx_node jvp = jx_node_need(&d->walk, at, "jvp");
    jx_node out = jx_node_member(at, "out_zeros");
    int n = rule->nins - rule->nconsts;

    jx_node_object(&d->walk, at, "zeros error jvp out_zeros");
    to->out_zeros = read_mask(d, &out, rule->nouts);
    if (d->walk.failed)
        return;
    to->jvp = jx_doc_closed(d, &jvp);
    takes(d, &jvp, &to->jvp, 2 * n - zeros_in(to->zeros),
          2 * rule->nouts - zeros_in(to->out_zeros));
}

/* Per residual the input that it forwards, or null; `own` counts those. */
static int read_forwards(jx_doc *d, const jx_node *at, const jx_rule *rule,
                         jx_rule_pattern *to)
{
    int n = jx_node_array(&d->walk, at), own = 0;
    int *fwds = JX_NEW_ARRAY(d->ctx->arena, n, int);

    for (int i = 0; fwds && i < n && !d->walk.failed; i++) {
        jx_node item = jx_node_item(at, (size_t)i);
        bool is_own = jx_node_kind(&item) == JX_JSON_NULL;
        fwds[i] =
            is_own ? -1 : jx_node_index(&d->walk, &item, rule->nins, "in");
        own += is_own;
    }
    to->nres = fwds ? n : 0;
    to->fwds = fwds;
    return own;
}

static void read_vjp(jx_doc *d, const jx_node *at, const jx_rule *rule,
                     jx_rule_pattern *to)
{
    jx_node fwd = jx_node_need(&d->walk, at, "fwd");
    jx_node bwd = jx_node_need(&d->walk, at, "bwd");
    jx_node nres = jx_node_member(at, "nres");
    jx_node fwds = jx_node_member(at, "fwds");
    jx_node ct = jx_node_member(at, "ct_zeros");
    int64_t own = 0;

    jx_node_object(&d->walk, at, "zeros error fwd nres fwds bwd ct_zeros");
    to->ct_zeros = read_mask(d, &ct, rule->nins - rule->nconsts);
    if (nres.there)
        own = jx_node_int(&d->walk, &nres, 0, 1 << 20);
    int nulls = read_forwards(d, &fwds, rule, to);
    if (nulls != own)
        jx_node_fail(&d->walk, at,
                     "expected as many null in \"fwds\" as "
                     "\"nres\" says, %lld, found %d",
                     (long long)own, nulls);
    if (d->walk.failed)
        return;
    to->fwd = jx_doc_closed(d, &fwd);
    to->bwd = jx_doc_closed(d, &bwd);
    takes(d, &fwd, &to->fwd, rule->nins - rule->nconsts, nulls + rule->nouts);
    if (to->bwd.jaxpr && !d->walk.failed)
        takes(d, &bwd, &to->bwd, to->bwd.jaxpr->nins,
              rule->nins - rule->nconsts - zeros_in(to->ct_zeros));
}

static void read_pattern(jx_doc *d, const jx_node *at, const jx_rule *rule,
                         jx_rule_pattern *to)
{
    if (jx_node_kind(at) != JX_JSON_OBJECT) {
        jx_node_fail(&d->walk, at, "expected an object");
        return;
    }
    jx_node zeros = jx_node_need(&d->walk, at, "zeros");
    jx_node error = jx_node_member(at, "error");
    to->zeros = read_mask(d, &zeros, rule->nins - rule->nconsts);
    to->error = jx_node_text(&d->walk, &error);
    if (d->walk.failed)
        return;
    if (error.there)
        jx_node_object(&d->walk, at, "zeros error");
    else if (rule->vjp)
        read_vjp(d, at, rule, to);
    else
        read_jvp(d, at, rule, to);
}

static void read_patterns(jx_doc *d, const jx_node *at, jx_rule *rule)
{
    int n = jx_node_array(&d->walk, at);
    jx_rule_pattern *all = JX_NEW_ARRAY(d->ctx->arena, n, jx_rule_pattern);

    for (int i = 0; all && i < n && !d->walk.failed; i++) {
        jx_node item = jx_node_item(at, (size_t)i);
        read_pattern(d, &item, rule, &all[i]);
    }
    rule->npatterns = all ? n : 0;
    rule->patterns = all;
}

static bool is_vjp(jx_doc *d, const jx_node *at)
{
    jx_node prim = jx_node_need(&d->walk, at, "prim");
    const char *name = jx_node_text(&d->walk, &prim);

    if (name && strcmp(name, "custom_vjp_call") &&
        strcmp(name, "custom_jvp_call"))
        jx_node_fail(&d->walk, &prim,
                     "expected \"custom_jvp_call\" or \"custom_vjp_call\"");
    return name && !strcmp(name, "custom_vjp_call");
}

static void read_operand_avals(jx_doc *d, const jx_node *at, jx_rule *rule)
{
    jx_node in = jx_node_need(&d->walk, at, "in");
    jx_node nc = jx_node_member(at, "nc");
    jx_node nout = jx_node_need(&d->walk, at, "nout");
    int n = jx_node_array(&d->walk, &in);
    const jx_aval **avals = JX_NEW_ARRAY(d->ctx->arena, n, const jx_aval *);

    for (int i = 0; avals && i < n; i++) {
        jx_node item = jx_node_item(&in, (size_t)i);
        avals[i] = jx_doc_aval(d, &item);
    }
    rule->nins = avals ? n : 0;
    rule->ins = avals;
    if (nc.there)
        rule->nconsts = (int)jx_node_int(&d->walk, &nc, 0, n);
    rule->nouts = (int)jx_node_int(&d->walk, &nout, 0, 1 << 20);
}

static void read_intent(jx_doc *d, const jx_node *at, jx_rule *rule)
{
    jx_node intent = jx_node_member(at, "intent");
    const char *name;

    if (!intent.there ||
        !jx_node_object(&d->walk, &intent, "kind reason surrogate"))
        return;
    jx_node kind = jx_node_need(&d->walk, &intent, "kind");
    jx_node reason = jx_node_member(&intent, "reason");
    jx_node surrogate = jx_node_member(&intent, "surrogate");
    name = jx_node_text(&d->walk, &kind);
    rule->intent = name ? jx_intent_of(name) : JX_INTENT_NONE;
    if (name && !rule->intent)
        jx_node_fail(&d->walk, &kind, "there is no intent `%s`", name);
    rule->reason = jx_node_text(&d->walk, &reason);
    if (!surrogate.there || d->walk.failed)
        return;
    rule->surrogate = jx_doc_closed(d, &surrogate);
    takes(d, &surrogate, &rule->surrogate, rule->nins, rule->nouts);
}

static void read_rule(jx_doc *d, const jx_node *at, int id, jx_rule *rule)
{
    if (!jx_node_object(&d->walk, at,
                        "prim name stack in nc nout primal symbolic_zeros "
                        "intent patterns batched truncated"))
        return;
    jx_node name = jx_node_member(at, "name");
    jx_node stack = jx_node_need(&d->walk, at, "stack");
    jx_node primal = jx_node_need(&d->walk, at, "primal");
    jx_node symbolic = jx_node_member(at, "symbolic_zeros");
    jx_node patterns = jx_node_member(at, "patterns");
    jx_node batched = jx_node_member(at, "batched");
    jx_node truncated = jx_node_member(at, "truncated");
    rule->id = id;
    rule->vjp = is_vjp(d, at);
    rule->name = jx_node_text(&d->walk, &name);
    rule->stack = jx_doc_stack(d, &stack);
    read_operand_avals(d, at, rule);
    if (d->walk.failed)
        return;
    rule->primal = jx_doc_closed(d, &primal);
    takes(d, &primal, &rule->primal, rule->nins, rule->nouts);
    rule->symbolic_zeros = jx_node_bool(&d->walk, &symbolic);
    read_intent(d, at, rule);
    read_patterns(d, &patterns, rule);
    if (batched.there && !d->walk.failed)
        rule->batched = jx_doc_value(d, &batched);
    rule->truncated = jx_node_text(&d->walk, &truncated);
}

void jx_doc_rules(jx_doc *d, const jx_node *root)
{
    jx_node table = jx_node_member(root, "rules");
    const jx_rule **rules =
        JX_NEW_ARRAY(d->ctx->arena, d->nrules, const jx_rule *);

    for (int i = 0; rules && i < d->nrules && !d->walk.failed; i++) {
        jx_node item = jx_node_item(&table, (size_t)i);
        read_rule(d, &item, i, &d->rules[i]);
        rules[i] = &d->rules[i];
    }
    d->program->nrules = rules ? d->nrules : 0;
    d->program->rules = rules;
}

static void read_comparison(jx_doc *d, const jx_node *at, jx_comparison *to)
{
    if (!jx_node_object(&d->walk, at,
                        "op lhs rhs scope verdict n stack site via"))
        return;
    jx_node op = jx_node_need(&d->walk, at, "op");
    jx_node lhs = jx_node_need(&d->walk, at, "lhs");
    jx_node rhs = jx_node_need(&d->walk, at, "rhs");
    jx_node verdict = jx_node_need(&d->walk, at, "verdict");
    jx_node n = jx_node_need(&d->walk, at, "n");
    jx_node stack = jx_node_member(at, "stack");
    jx_node site = jx_node_member(at, "site");
    jx_node via = jx_node_member(at, "via");
    if (d->walk.failed)
        return;
    to->op = jx_node_text(&d->walk, &op);
    to->scope = jx_doc_scope(d, at);
    to->lhs = jx_doc_dim_text(d, &lhs, to->scope);
    to->rhs = jx_doc_dim_text(d, &rhs, to->scope);
    if (jx_node_kind(&verdict) != JX_JSON_NULL)
        to->decision = jx_node_bool(&d->walk, &verdict) ? JX_DECIDED_TRUE
                                                        : JX_DECIDED_FALSE;
    to->count = jx_node_int(&d->walk, &n, 0, INT64_MAX);
    to->stack = jx_doc_stack(d, &stack);
    to->via = jx_node_text(&d->walk, &via);
    if (site.there && jx_node_tuple(&d->walk, &site, 2)) {
        jx_node file = jx_node_item(&site, 0);
        jx_node function = jx_node_item(&site, 1);
        to->site_file = jx_node_text(&d->walk, &file);
        to->site_function = jx_node_text(&d->walk, &function);
    }
}

void jx_doc_comparisons(jx_doc *d, const jx_node *root)
{
    jx_node table = jx_node_member(root, "comparisons");
    int n = jx_node_array(&d->walk, &table);
    jx_comparison *all = JX_NEW_ARRAY(d->ctx->arena, n, jx_comparison);

    for (int i = 0; all && i < n && !d->walk.failed; i++) {
        jx_node item = jx_node_item(&table, (size_t)i);
        read_comparison(d, &item, &all[i]);
    }
    d->program->ncomparisons = all ? n : 0;
    d->program->comparisons = all;
}

static void read_closure(jx_doc *d, const jx_node *at, jx_closure *to)
{
    if (!jx_node_object(&d->walk, at, "name stack"))
        return;
    jx_node name = jx_node_member(at, "name");
    jx_node stack = jx_node_need(&d->walk, at, "stack");
    to->name = jx_node_text(&d->walk, &name);
    to->stack = jx_doc_stack(d, &stack);
}

void jx_doc_closures(jx_doc *d, const jx_node *root)
{
    jx_node table = jx_node_member(root, "closures");
    int n = jx_node_array(&d->walk, &table);
    jx_closure *all = JX_NEW_ARRAY(d->ctx->arena, n, jx_closure);

    for (int i = 0; all && i < n && !d->walk.failed; i++) {
        jx_node item = jx_node_item(&table, (size_t)i);
        read_closure(d, &item, &all[i]);
    }
    d->program->nclosures = all ? n : 0;
    d->program->closures = all;
}
