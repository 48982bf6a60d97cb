"""One case for every option of the layer and for every size that the kernels could treat apart."""

from tests.engine.comparison import Case, sizes

LSTM = {"controller": "lstm"}

CASES = {
    "the plainest call": Case(),
    "an LSTM controller": Case(LSTM),
    "two LSTM layers": Case({**LSTM, "controller_layers": 2}, lengths=(5, 2, 4)),
    "three LSTM layers and a given state": Case({**LSTM, "controller_layers": 3}, given_state=True),
    "two heads of each kind": Case({"heads": 2}),
    "more heads that read": Case({"read_heads": 3, "write_heads": 1}),
    "more heads that write": Case({"read_heads": 1, "write_heads": 3}),
    "many heads": Case({**LSTM, "read_heads": 5, "write_heads": 4}),
    "no choice of shift": Case({"shifts": (0,)}),
    "one shift that moves": Case({"shifts": (2,)}),
    "shifts in any order": Case({"shifts": (1, -1)}),
    "shifts far apart": Case({"shifts": (-3, 0, 5)}),
    "shifts around the ring": Case({"shifts": (-1000, 1, 64)}),
    "shifts that are the same rotation": Case({"shifts": (0, 11, -22)}),
    "shifts to everywhere": Case({"shifts": tuple(range(-5, 6))}),
    "scalar shifts": Case({"shift_mode": "scalar"}),
    "scalar shifts without a choice": Case({"shift_mode": "scalar", "shifts": (4,)}),
    "scalar shifts to one side": Case({"shift_mode": "scalar", "shifts": (0, 1)}),
    "scalar shifts around the ring": Case(
        {"shift_mode": "scalar", "shifts": tuple(range(-5, 6)), "memory_locations": 3}
    ),
    "scalar shifts of an LSTM's heads": Case({**LSTM, "shift_mode": "scalar", "heads": 2}),
    "a memory of one location": Case({"memory_locations": 1}),
    "a memory of two locations": Case({"memory_locations": 2, "heads": 2}),
    "a memory of three locations": Case({"memory_locations": 3, "shifts": (-2, 2)}),
    "a memory of whole vectors": Case({"memory_locations": 16, "memory_width": 16}),
    "a memory of one location more": Case({"memory_locations": 17, "memory_width": 17}),
    "a wide memory": Case({"memory_locations": 5, "memory_width": 41}),
    "a memory of width one": Case({"memory_width": 1}),
    "a memory of width two": Case({"memory_width": 2}),
    "gradients clipped at every step": Case({"backward_clip": 0.02}, lengths=(5, 2, 4)),
    "clipped gradients of an LSTM": Case(
        {**LSTM, "controller_layers": 2, "heads": 2, "backward_clip": 0.02}, given_state=True
    ),
    "a random start memory": Case({"start_memory": "random"}),
    "a memory of zeros": Case(zero_memory=True),
    "a given memory of zeros": Case(LSTM, given_state=True, zero_memory=True),
    "all sizes one": Case(
        sizes(inputs=1, outputs=1, units=1, locations=1, width=1),
        steps=1,
        batch_size=1,
    ),
    "sizes of whole vectors": Case(
        {**LSTM, "input_size": 16, "output_size": 16, "controller_size": 16, "memory_width": 16}
    ),
    "prime sizes": Case(
        sizes(inputs=13, outputs=19, units=23, locations=37, width=7)
        | {"read_heads": 3, "write_heads": 2},
        batch_size=5,
        lengths=(5, 3, 0, 1, 4),
    ),
    "the sizes of the paper": Case(
        sizes(inputs=9, outputs=8, units=100, locations=128, width=20),
        batch_size=2,
    ),
    # The tape holds every eighth memory of a large memory: lengths on both sides of such a step.
    "memories that are written again": Case(
        sizes(inputs=3, outputs=2, units=5, locations=300, width=20),
        steps=19,
        batch_size=6,
        lengths=(19, 8, 16, 9, 17, 0),
    ),
    "memories of a small batch that are written again": Case(
        {**LSTM, **sizes(inputs=3, outputs=2, units=5, locations=500, width=20), "heads": 2},
        steps=33,
        batch_size=2,
        lengths=(33, 13),
        given_state=True,
    ),
    "one step": Case(steps=1),
    "many steps": Case(LSTM, steps=43, batch_size=2, lengths=(43, 17)),
    "one sequence": Case(batch_size=1),
    "many sequences": Case(
        {"memory_locations": 5}, batch_size=37, lengths=tuple(i * 7 % 6 for i in range(37))
    ),
    "mixed lengths": Case(lengths=(2, 5, 3)),
    "equal lengths short of all steps": Case(LSTM, lengths=(3, 3, 3)),
    "an empty sequence": Case(lengths=(5, 0, 3)),
    "nothing but empty sequences": Case({**LSTM, "heads": 2}, lengths=(0, 0, 0)),
    "a given state": Case(given_state=True),
    "a given state and mixed lengths": Case(
        {**LSTM, "heads": 2}, lengths=(0, 5, 2), given_state=True
    ),
    "x transposed": Case(layout="transposed"),
    "x with gaps": Case(LSTM, layout="every other", lengths=(2, 5, 3)),
    "x expanded over the batch": Case(layout="expanded"),
    "batch first": Case({"batch_first": True}, lengths=(2, 5, 3)),
    "batch first with gaps": Case({"batch_first": True}, layout="every other"),
    "all parameters zero": Case({"heads": 2}, weight_scale=0),
    "a scalar shift exactly between": Case(
        {"shift_mode": "scalar"}, weight_scale=0, given_state=True
    ),
    "saturated gates": Case(steps=2, weight_scale=10),
    "saturated gates of an LSTM": Case({**LSTM, "heads": 2}, steps=2, weight_scale=10),
    "weightings that are one-hot": Case(steps=2, weight_scale=30, given_state=True),
    "strengths and sharpnesses of a hundred": Case({"heads": 3}, steps=1, weight_scale=100),
    "a saturated scalar shift": Case({"shift_mode": "scalar"}, steps=2, weight_scale=30),
}
