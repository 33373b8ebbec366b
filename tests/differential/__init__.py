"""The programs of this language against the same programs in Kafka Streams, on random records.

`make test` compares each program on a few records, `make test-differential` on as many as fit into a time.
What may differ, and why, is in docs/decisions/0017-compared-with-kafka-streams.md.
"""
