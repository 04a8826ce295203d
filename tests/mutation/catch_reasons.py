"""Why a case class stays though every fault that it catches fails another class of the same table as well."""

# Classes whose reason is one for all of a kind, by how their names begin.
BY_PREFIX = {
    "random-": "ordinary data: it stands for the faults that nobody thought of, and those planted here were thought of",
    "wild-": "a public fault under its own name: whoever knows the report finds it in the verdict",
}

BY_NAME = {
    "gemm-random": BY_PREFIX["random-"],
    "dequantize-random": BY_PREFIX["random-"],
    "correct-gemm-random": BY_PREFIX["random-"],
    "stacks": BY_PREFIX["random-"],
    "ties": "every tie with both signs; other classes hold some of them beside other questions",
    "grid": "exact values alone: where it passes, the table is right and the fault lies in the rounding",
    "grid-neighbours": "the values next to exact ones: no tie and no scale is involved",
    "deadzone-edge": "the edge of zero alone, where a fault is a loss of accuracy that no tolerance sees",
    "double-rounding-fp16": "no planted fault rounds to binary16; kernels on half-precision units do",
    "scale-edges": "the one class that names the threshold of each scale rule; its faults show on random maxima too, "
                   "where there are enough",
    "scale-clamp-high": "the upper end of the scales; extreme random words reach it by chance",
    "reciprocal-multiply": "for the published rules the reciprocal changes no scale code; rules of the user and "
                           "elements scaled by a reciprocal need it",
    "subnormal-inputs": "subnormal inputs alone; the clamp of small scales meets some of them on the way",
    "largest-finite": "overflow on the way alone; the clamp of large scales meets it as well",
    "every-bf16-maximum": "exhaustive, in `full` alone, which the mutants are not run on",
    "one-nonzero": "names the position that is left out or written elsewhere; any full block fails with it",
    "nan-positions": "NaN at each position and with each payload, and nothing else",
    "outlier": "the data for which block formats are known to fail, as a user would look for it",
    "constant": "blocks in which every element must have the same code: a fault of one lane shows at a glance",
    "alternating-signs": "a maximum over signed values, alone",
    "hif4-level3-threshold": "the third level alone; where the second is wrong too, both classes fail and say so",
    "double-rounding-fp32": "a product rounded to binary32; the planted ones show beside bfloat16 edges too",
    "hif4-grouping": "names the grouping; every block of mixed magnitudes fails with it",
    "hif4-single-bits": "names the bit that stands elsewhere; every block with micro-exponents fails with it",
    "nvfp4-scale-ties": "ties of the block scale alone; the scale edges hold some of them",
    "nvfp4-scale-zero": "a zero scale alone; tiny random blocks reach it by chance",
    "nvfp4-scale-saturated": "a saturated scale alone; large random blocks reach it by chance",
    "nvfp4-tensor-scale": "tensor scales that are no powers of two; its faults fail most tensors",
    "nvfp4-tensor-scale-ties": "ties under two scales, where the order of two divisions shows",
    "nvfp4-tensor-scale-ends": "tensor scales at the ends, where a whole tensor is spoilt at once",
    "first-axis": "the axis alone, on data whose columns differ; odd widths share the fault where they have rows",
    "lane-ties": "a tie at every place: single lanes that round another way pass every other class but for chance",
    "lane-maxima": "the largest element at every place; other classes hold it at a few",
    "lane-nan": "a NaN at every place; other classes hold one at a few",
    "lane-infinity": "an infinity at every place; other classes hold one at a few",
    "scale-layout": "one scale a block, so that the place of each is named; any tensor of many blocks fails with it",
    "distinct-codes": "a code of its own for each place, so that the order of bytes is named",
    "stochastic-lowest-word": "random value 0 alone: it separates the use of the word from the rounding",
    "stochastic-highest-word": "the largest random value alone, the other end of the same question",
    "stochastic-on-grid": "exact values, which no random word may move",
    "dequantize-micro-bits": "one micro-exponent bit at a time; the codebook has patterns of many",
    "dequantize-positions": "one code at a time; the codebook has all codes at once",
    "dequantize-negative-zeros": "zeros alone, under every kind of scale",
    "gemm-cancellation": "sums whose answer is their rounding; random products differ in the last place alone",
    "gemm-scale-names": "each answer names the two scales that made it",
    "gemm-zero-sums": "no mutant makes a sum of -0: the reference starts at +0; the zoo has a kernel that does, which "
                      "fails random products with zeros as well",
    "macro-tail": "the last, partial macro block alone",
    "decompose-deadzone": "the edge of the deadzone alone",
    "decompose-fp32": "inputs with full significands, where terms computed in binary32 are wrong",
    "decompose-long": "the lanes of a row beyond 4096 columns; the planted faults show in shorter rows first",
}


def reason(name):
    if name in BY_NAME:
        return BY_NAME[name]
    return next((text for prefix, text in BY_PREFIX.items() if name.startswith(prefix)), None)
