// Splits an LSQL program into tokens for highlighting. It checks nothing: unknown text stays plain.

const KEYWORDS = new Set(
  `SET INSERT INTO STORE KEY VALUE AS WITH SELECT STREAM TABLE FROM WHERE GROUP BY HAVING WINDOW GRACE TUMBLE HOP
  SLIDING SESSION EVENTTIME LATERAL JOIN INNER LEFT RIGHT FULL OUTER ON WITHIN AND OR NOT IS NULL IN LIKE BETWEEN
  CASE WHEN THEN ELSE END CAST TRUE FALSE DISTINCT`.split(/\s+/),
);

const PATTERN = new RegExp(
  [
    /(?<comment>--[^\n]*|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$))/,
    /(?<string>'(?:[^'\\]|\\[^]|'')*'?|"(?:[^"\\]|\\[^]|"")*"?)/,
    /(?<name>`[^`]*`?)/,
    /(?<number>\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?:ms|[smhdw])?\b)/,
    /(?<word>[A-Za-z_][A-Za-z0-9_]*)/,
    /(?<plain>\s+|[^])/,
  ]
    .map((part) => part.source)
    .join("|"),
  "y",
);

/** The tokens of `text` in order: [{kind, text}]. Their texts joined are `text`. */
export function tokens(text) {
  const found = [];
  let setsNext = false; // the word after SET is the name of a setting, even if it is a keyword
  PATTERN.lastIndex = 0;
  while (PATTERN.lastIndex < text.length) {
    const { groups, 0: piece } = PATTERN.exec(text);
    const setting = setsNext && groups.word !== undefined;
    const kind =
      groups.word === undefined ? kindOf(groups) : setting ? "plain" : kindOfWord(piece, text, PATTERN.lastIndex);
    if (piece.trim()) setsNext = /^set$/i.test(piece);
    const last = found.at(-1);
    if (last?.kind === kind && kind === "plain") last.text += piece;
    else found.push({ kind, text: piece });
  }
  return found;
}

/** The tokens of `text` split at line ends: a list of lines, each a list of tokens. */
export function lines(text) {
  const result = [[]];
  for (const { kind, text: piece } of tokens(text.replace(/\s+$/, ""))) {
    piece.split("\n").forEach((part, index) => {
      if (index) result.push([]);
      if (part) result.at(-1).push({ kind, text: part });
    });
  }
  return result;
}

const kindOf = (groups) => Object.keys(groups).find((name) => groups[name] !== undefined);

function kindOfWord(word, text, after) {
  const call = /^\s*\(/.test(text.slice(after, after + 8));
  if (KEYWORDS.has(word.toUpperCase())) return call && /^(LEFT|RIGHT)$/i.test(word) ? "function" : "keyword";
  return call ? "function" : "plain";
}
