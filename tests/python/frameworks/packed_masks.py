"""Masks of packed documents for FlexAttention."""

import torch


def packed(documents, window=None):
    """Returns the mask_mod of rows of documents, causal within each document, with a window or none."""
    of_token = torch.stack(
        [torch.repeat_interleave(torch.arange(len(row)), torch.tensor(row)) for row in documents]
    )

    def mask(row, head, query, key):
        seen = (of_token[row, query] == of_token[row, key]) & (query >= key)
        return seen if window is None else seen & (query - key < window)

    return mask
