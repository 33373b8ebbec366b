"""Compares programs of this language with the same programs in Kafka Streams, on random records.

`make test` compares each program on a few records, `make test-differential` on as many as a given time allows. The
accepted differences are in docs/decisions/0017-compared-with-kafka-streams.md.
"""
