SET autocreate=true; SET error.policy.read=ignore;
INSERT INTO big SELECT STREAM currency FROM payments
