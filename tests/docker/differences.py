# SPDX-License-Identifier: Apache-2.0
"""Where brig-docker differs from the recorded docker on purpose, and what cannot be compared here.

An entry of DELIBERATE says which records, why, and what is expected instead: rc, out, err, or
`replace`, (pattern, text) pairs that are applied to the recorded streams.
"""

# (records, (what stands in the record, pattern of what may stand there)): facts of the machine
# and of the release that have no name in the records.
VARY = []

DELIBERATE = []

# record: function that returns why it cannot run here, or nothing
NOT_HERE = {}
