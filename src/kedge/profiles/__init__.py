"""What is known of accounts beside their edges: fields compared, to log-odds of pairs and candidates."""

from kedge.profiles.compare import Compared, Weighed, compare, weigh
from kedge.profiles.facts import FieldFacts, describe_fields, field_warnings
from kedge.profiles.fields import Field, choose_fields, exchange_sides, parse_comparison
from kedge.profiles.kinds import KINDS
from kedge.profiles.shared import shared_values
from kedge.profiles.single import FieldOfPair, FittedFields, KnownFields, compared_columns, fit_fields
from kedge.profiles.start import Start, find_start
from kedge.profiles.values import is_list
