"""Comparison data sets of the HodgeRank papers: videos, images, faces and universities."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from optiframe.problems.datasets import ComparisonSet, NamedComparisonSet


class _Pairwise(ComparisonSet):
    """Published comparisons for one ranking."""

    problem = "pairwise-ranking"

    def inputs(self) -> dict[str, Any]:
        return {"comparisons": self.columns()}


class _ByReference(_Pairwise):
    """Distorted versions of several references, each compared only with others of its own."""

    workers = False
    versions: ClassVar[int] = 16
    ref: int | None = None

    def inputs(self) -> dict[str, Any]:
        columns = self.columns(("ref",))
        ref = columns.pop("ref")
        if self.ref is None:
            return {"comparisons": columns}
        here = ref == self.ref
        mine = {name: values[here] for name, values in columns.items()}
        # Ids count on from reference to reference; the paper counts from 1 within each.
        shift = (self.ref - 1) * self.versions
        return {"comparisons": {name: values - shift for name, values in mine.items()}}


class PcVqa(_ByReference):
    """Quality of videos: 38,400 comparisons of 10 references x 16 versions, complete and balanced.

    Items are 1 to 16 within the reference, as in Table 1; with all references together 1 to 160,
    which fall into ten groups with nothing between them. `left` is always the winner; who
    compared is not published.
    """

    name = "pairwise.pc-vqa"
    reference = "Xu, Huang, Yao et al., ACM Multimedia 2011; Xu et al., Sec. 5.2.1 and Table 1"
    folder = "pc_vqa"
    source = 'github.com/qianqianxu010/ACM-MM2013, "PC-VQA dataset" (to be tidied by hand)'
    ref: Annotated[int, Field(ge=1, le=10)] | None = Field(
        default=1, description="reference video; none: all"
    )


class PcIqa(_ByReference):
    """Quality of images: 23,097 comparisons of 15 references x 16 versions, incomplete and imbalanced.

    Items are 1 to 16 within the reference, as in Table 2 (reference 10); with all references
    together 1 to 240, which fall into fifteen groups. `left` is always the winner; who compared
    is not published.
    """

    name = "pairwise.pc-iqa"
    reference = "Xu, Huang, Yao et al., IEEE Trans. Multimedia 2012; Xu et al., Sec. 5.2.2 and Table 2"
    folder = "pc_iqa"
    source = 'github.com/qianqianxu010/ACM-MM2013, "PC-IQA dataset" (to be tidied by hand)'
    ref: Annotated[int, Field(ge=1, le=15)] | None = Field(
        default=1, description="reference image; none: all"
    )


class PcIqaExtended(PcIqa):
    """Quality of images, the later and larger collection: 43,265 comparisons of 15 x 16 items."""

    name = "pairwise.pc-iqa-extended"
    reference = "Xu, Xiong, Cao, Yao, Appl. Comput. Harmon. Anal. 2016"
    table = "comparisons_extended"
    source = 'github.com/qianqianxu010/ACHA2016, "code/Realworld_PC_IQA-Fig.5" (to be tidied by hand)'


class PcIqaWorkers(_Pairwise):
    """Quality of images, reference 1 with who compared.

    4,429 comparisons of 16 items by 172 workers, 371 ties.
    """

    name = "pairwise.pc-iqa-workers"
    reference = "Xu et al., ACM Multimedia 2018"
    folder = "pc_iqa"
    table = "ref1_with_workers"
    source = 'github.com/qianqianxu010/qqxu_yyao, "code/figure 10/iqadata_ref1.txt" (to be tidied by hand)'


class HumanAge(_Pairwise):
    """Who looks older: 14,011 comparisons of 30 faces by 94 workers, 1,233 ties.

    Table 3 of the paper is met with ``ties = "left"`` alone: every tie there is a win of the left face.
    """

    name = "pairwise.human-age"
    reference = "Xu et al., Sec. 5.2.3 and Table 3"
    folder = "human_age"
    source = 'github.com/qianqianxu010/qqxu_yyao, "code/figure 6/agedata.mat" (to be tidied by hand)'

    ties: Literal["tie", "left"] = Field(
        default="tie",
        description="what a tie counts as: a tie, or a win of the left face as in the paper's Table 3",
    )

    def inputs(self) -> dict[str, Any]:
        columns = self.columns()
        if self.ties == "left":
            label = columns["label"]
            columns["label"] = np.where(label == 0, columns["left"], label)
        return {"comparisons": columns}


class WorldCollege(_Pairwise, NamedComparisonSet):
    """Which university would you rather attend: 8,823 comparisons of 261 universities by 340 workers."""

    name = "pairwise.world-college"
    reference = "allourideas.org; Xu et al., ICML 2016"
    folder = "world_college"
    source = 'github.com/qianqianxu010/ICML2016, "code/universitydata.mat" (to be tidied by hand)'
    names_source: ClassVar[str] = (
        'github.com/yuany-pku/split-lbi, "examples/university/UniName.mat" (to be tidied by hand)'
    )

    names: bool = Field(default=True, description="names of the universities as ids; false: numbers 1 to 261")
