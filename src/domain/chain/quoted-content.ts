import type { Content } from '../messages/send-request.ts';
import { verificationText } from '../messages/verification-text.ts';
import { LANGUAGES } from '../shared/language.ts';
import { providerText } from '../shared/provider-text.ts';
import { MASK } from '../shared/secret-mask.ts';
import { toStorableLine } from '../shared/storable-text.ts';
import type { TemplateParameters } from '../whatsapp/template-parameters.ts';

/** Shorter texts stand in any sentence, in UTF-16 units. */
const QUOTED_CHARACTERS_MIN = 4;

/**
 * The reason as it is stored, with `***` in place of the number, the code, the text and the parameters that were sent. A provider
 * may quote them in its reason, and reasons reach reports and webhooks, and stay when the content of the message is masked. Where
 * the reason was cut, the beginning of one is found too. What has less than four characters is not found.
 */
export function withoutContent(
  reason: string,
  { phoneNumber, content }: { readonly phoneNumber: string; readonly content: Content },
): string {
  const texts = new Set([phoneNumber, ...textsOf(content)].map(toStorableLine));
  return [...texts]
    .filter(({ length }) => length >= QUOTED_CHARACTERS_MIN)
    .sort((a, b) => b.length - a.length)
    .reduce((masked, value) => withoutBeginning(masked.replaceAll(value, MASK), value), providerText(reason));
}

/** Without a beginning of the value at the end of the text, which was cut there. */
function withoutBeginning(text: string, value: string): string {
  const beginning = value.slice(0, QUOTED_CHARACTERS_MIN);
  const from = Math.max(0, text.length - value.length);
  for (let at = text.indexOf(beginning, from); at !== -1; at = text.indexOf(beginning, at + 1)) {
    if (value.startsWith(text.slice(at))) return text.slice(0, at) + MASK;
  }
  return text;
}

/** What a handset shows of the content, whole and in the parts that were given. */
function textsOf(content: Content): readonly string[] {
  switch (content.smsType) {
    case 'verification': {
      const { verificationCode } = content;
      return [...LANGUAGES.map((language) => verificationText(language, verificationCode)), verificationCode];
    }
    case 'custom':
      return [content.customMessage];
    case 'whatsapp-template':
      return valuesOf(content.templateParameters);
    default:
      return content satisfies never;
  }
}

function valuesOf({ header = {}, body = {}, buttons = {} }: TemplateParameters): readonly string[] {
  return [header, body, ...Object.values(buttons)].flatMap((part) => Object.values(part).map(String));
}
