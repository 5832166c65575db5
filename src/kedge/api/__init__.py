"""kedge from Python: everything that the command line does, with results as objects."""

from kedge.api.audits import Audit
from kedge.api.checked import check, doctor
from kedge.api.compared import Compared, Reproduced, compare, list_methods, reproduce
from kedge.api.decisions import Decisions
from kedge.api.explained import Explained
from kedge.api.facts import Facts
from kedge.api.linker import Linker, NotFittedError
from kedge.api.matching import demo, explain, match, open
from kedge.api.page import Report
from kedge.api.planted import SynthPair, example, synth
from kedge.api.pseudonyms import make_key, pseudonymise
from kedge.api.review import Review
from kedge.api.run import Run
from kedge.api.tables import CandidateRow, MatchRow, SuspectRow, Table
from kedge.api.vectors import EmbeddedNetworks, Embedding, embed
