"""jraph: graph networks and segments."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import jraph

from .table import add, each, gradient, normal


def graph():
    """Two graphs in one."""
    return jraph.GraphsTuple(
        nodes=normal(5, 3), edges=normal(7, 2), globals=normal(2, 2),
        senders=jnp.array([0, 1, 2, 0, 3, 4, 4]),
        receivers=jnp.array([1, 2, 0, 2, 4, 3, 4]),
        n_node=jnp.array([3, 2]), n_edge=jnp.array([4, 3]))


def dense(width, seed):
    def function(*parts):
        x = jnp.concatenate([part.reshape(part.shape[0], -1)
                             for part in jax.tree.leaves(parts)], -1)
        return jnp.tanh(x @ normal(x.shape[-1], width, seed=seed))
    return function


def network(name, build):
    """Rows: the network on a graph, and its gradient by what this holds."""
    def apply(graph, nodes, edges, everywhere):
        out = build()(graph._replace(nodes=nodes, edges=edges,
                                     globals=everywhere))
        return {'nodes': out.nodes, 'edges': out.edges,
                'globals': out.globals}

    def arguments():
        whole = graph()
        return whole, whole.nodes, whole.edges, whole.globals
    add(f'jraph {name}', lambda: (apply, arguments()))
    add(f'jraph {name} grad', lambda: (gradient(apply, (1, 2, 3)),
                                       arguments()))


for _name, _build in {
        'GraphNetwork': lambda: jraph.GraphNetwork(
            dense(4, 0), dense(3, 1), dense(2, 2)),
        'GraphNetwork attention': lambda: jraph.GraphNetwork(
            dense(4, 0), dense(3, 1), dense(2, 2),
            attention_logit_fn=lambda *parts: dense(1, 3)(*parts),
            attention_reduce_fn=lambda edges, weights: edges * weights),
        'GraphNetGAT': lambda: jraph.GraphNetGAT(
            dense(4, 0), dense(3, 1),
            lambda *parts: dense(1, 3)(*parts),
            lambda edges, weights: edges * weights, dense(2, 2)),
        'InteractionNetwork': lambda: jraph.InteractionNetwork(
            dense(4, 0), dense(3, 1)),
        'RelationNetwork': lambda: jraph.RelationNetwork(
            dense(4, 0), dense(3, 1)),
        'DeepSets': lambda: jraph.DeepSets(dense(4, 0), dense(3, 1)),
        'GraphMapFeatures': lambda: jraph.GraphMapFeatures(
            dense(4, 0), dense(3, 1), dense(2, 2)),
        'GraphConvolution': lambda: jraph.GraphConvolution(
            dense(4, 0), add_self_edges=True),
        'GAT': lambda: jraph.GAT(dense(4, 0), lambda a, b, e: dense(1, 2)(
            a, b)),
        }.items():
    network(_name, _build)

_segments = {
    name: lambda x, i, name=name: getattr(jraph, name)(x, i, 4)
    for name in ('segment_sum', 'segment_mean', 'segment_max', 'segment_min',
                 'segment_variance', 'segment_normalize', 'segment_softmax',
                 'segment_max_or_constant', 'segment_min_or_constant')}


def parts():
    return normal(7, 3), jnp.array([0, 2, 2, 0, 1, 1, 2])


def padded(x):
    """The last graph is padding, as `pad_with_graphs` makes it."""
    return graph()._replace(nodes=x[:5], n_node=jnp.array([3, 2, 0]),
                            n_edge=jnp.array([4, 3, 0]),
                            globals=normal(3, 2))


each('jraph', _segments, parts)
each('jraph', {f'{name} grad': gradient(function)
               for name, function in _segments.items()
               if not name.endswith(('segment_max', 'segment_min'))}, parts)
each('jraph', {
    'partition_softmax': lambda x, i: jraph.partition_softmax(
        x[:, 0], jnp.array([3, 4]), 7),
    'batch': lambda x, i: jraph.batch([graph(), graph()._replace(
        nodes=x[:5])]).nodes,
    'padding masks': lambda x, i: [function(padded(x)) for function in (
        jraph.get_node_padding_mask, jraph.get_edge_padding_mask,
        jraph.get_graph_padding_mask)],
}, parts)
