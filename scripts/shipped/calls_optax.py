"""optax: calls that reach its rules (as calls_jax.py)."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import optax

from library_functions.table import normal, uniform

LABELS = jax.nn.softmax(normal(3, 4, seed=1))

CALLS = {
    'scale_gradient': (lambda x: optax.scale_gradient(x, .3), normal(3)),
    'safe_softmax_cross_entropy': (lambda x: optax.losses.safe_softmax_cross_entropy(x, LABELS),
                                   normal(3, 4)),
    'losses.ctc_loss': (lambda x: optax.losses.ctc_loss(
        x, jnp.zeros((1, 5)), jnp.array([[1, 2, 0]]), jnp.array([[0., 0., 1.]])),
        normal(1, 5, 4)),
    'convex_kl_divergence': (lambda x, t: optax.losses.convex_kl_divergence(
        jax.nn.log_softmax(x), t), normal(3, 4), LABELS),
    'multiclass_sparsemax_loss': (lambda x: optax.losses.multiclass_sparsemax_loss(
        x, jnp.array([1, 0, 3])), normal(3, 4)),
    'poly_loss_cross_entropy': (lambda x: optax.losses.poly_loss_cross_entropy(x, LABELS),
                                normal(3, 4)),
    'poly_loss_cross_entropy with hard labels': (
        lambda x: optax.losses.poly_loss_cross_entropy(
            x, jax.nn.one_hot(jnp.array([0, 3, 1]), 4)), normal(3, 4)),
    'softmax_cross_entropy': (lambda x: optax.losses.safe_softmax_cross_entropy(
        x, jax.nn.one_hot(jnp.array([0, 3, 1]), 4)), normal(3, 4)),
    'projection_simplex': (lambda x: optax.projections.projection_simplex(x), normal(5)),
    'projection_simplex scaled': (lambda x, s: optax.projections.projection_simplex(x, s),
                                  normal(5), jnp.float32(2.)),
    'projection_l1_ball': (lambda x: optax.projections.projection_l1_ball(x, .7), normal(5)),
    'projection_l1_ball inside': (lambda x: optax.projections.projection_l1_ball(x, 20.),
                                  normal(5)),
    'projection_l1_sphere': (lambda x: optax.projections.projection_l1_sphere(x), normal(5)),
    'perturbations.make_perturbed_fun': (optax.perturbations.make_perturbed_fun(
        lambda x: jnp.sum(jax.nn.relu(x)), 10, .3), jax.random.key(0), normal(3)),
    'softmax_focal of positive': (lambda x: optax.losses.sigmoid_focal_loss(
        x, jnp.array([1., 0., 1.])), normal(3)),
    'losses.make_fenchel_young_loss': (optax.losses.make_fenchel_young_loss(
        jax.scipy.special.logsumexp), normal(4), uniform(4)),
}
