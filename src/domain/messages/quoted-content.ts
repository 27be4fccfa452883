import { LANGUAGES } from '../shared/language.ts';
import type { TemplateParameters } from '../whatsapp/template-parameters.ts';
import type { Content } from './send-request.ts';
import { verificationText } from './verification-text.ts';

/** Shorter texts stand in any sentence, in UTF-16 units. */
const QUOTED_CHARACTERS_MIN = 4;
const MASK = '***';

/**
 * The reason with `***` in place of the number, the code, the text and the parameters that were sent. A provider may quote them
 * in its reason, and reasons reach reports, webhooks and logs, and stay when the content of the message is masked. What has less
 * than four characters is not found.
 */
export function withoutContent(
  reason: string,
  { phoneNumber, content }: { readonly phoneNumber: string; readonly content: Content },
): string {
  return [phoneNumber, ...textsOf(content)]
    .filter(({ length }) => length >= QUOTED_CHARACTERS_MIN)
    .sort((a, b) => b.length - a.length)
    .reduce((masked, value) => masked.replaceAll(value, MASK), reason);
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
