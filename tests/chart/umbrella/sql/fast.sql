-- A program in a file of its own: $(SQL), `back-ticks`, {{ .Values }}.
INSERT INTO fast
SELECT STREAM * FROM vehicles
WHERE speed > 10
