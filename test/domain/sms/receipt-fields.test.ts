import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ReceiptFields, receiptFields } from '../../../src/domain/sms/receipt-fields.ts';

/** The names of fields as a regular expression says them; the groups are those of the id, the state, the error and the text. */
const LABEL =
  /(?<![\w-])(?:((?:message[ _-]?|msg[ _-]?)?id)|(stat(?:e|us)?|message[ _-]?state)|(err(?:or)?(?:[ _-]?code)?)|(te?xt)|sub|dlvrd|submit[ _-]?date|done[ _-]?date)\s*[:=]/gi;

function expectedOf(text: string): ReceiptFields {
  const labels = [...text.matchAll(LABEL)].map((match, index, all) => {
    const written = text.slice(match.index + match[0].length, all[index + 1]?.index).trim();
    const [, id, state, error, words] = match;
    return { id, state, error, words, value: /^[^\s,;|]+/.exec(written)?.[0] ?? null };
  });
  const textAt = labels.findIndex(({ words }) => words !== undefined);
  const read = textAt > 0 ? labels.slice(0, textAt) : labels;
  const writtenIn = (field: 'id' | 'state' | 'error') => {
    const own = read.filter((label) => label[field] !== undefined);
    return own.at(textAt === 0 ? -1 : 0)?.value ?? null;
  };
  return { id: writtenIn('id'), state: writtenIn('state'), error: writtenIn('error') };
}

const words = ['id', 'message', 'msg', 'stat', 'state', 'status', 'err', 'error', 'code', 'text', 'txt'];
const others = ['sub', 'dlvrd', 'submit', 'done', 'date', 'ID', 'Stat', 'MESSAGE', 'teXt', 'gid', 'x', '7'];
const between = [' ', '  ', ':', ':', '=', '_', '-', ',', ';', '|', '\n', '\0', '\u00a0', '\u2003', '(', '.'];
const odd = ['DELIVRD', '0A', '\u017ftat', '\u212a', 'م', '\ufeff', ' :', ': '];
const texts = fc
  .array(fc.constantFrom(...words, ...others, ...between, ...between, ...odd), { maxLength: 24 })
  .chain((pieces) => fc.constantFrom('', 'text:').map((first) => first + pieces.join('')));

it('the fields of a receipt are those that a regular expression finds', () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(receiptFields(text)).toEqual(expectedOf(text));
    }),
    { numRuns: 30_000 },
  );
});

it('a receipt may have the words of the message in front twice', () => {
  expect(receiptFields('text:id:1 text:stat:EXPIRED id:7 stat:DELIVRD')).toEqual({
    id: '7',
    state: 'DELIVRD',
    error: null,
  });
});
