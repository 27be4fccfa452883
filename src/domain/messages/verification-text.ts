import type { Language } from '../shared/language.ts';
import type { Content } from './send-request.ts';

/** Short enough to stay one UCS-2 sms with the longest code. */
const WORDING: Readonly<Record<Language, (code: string) => string>> = {
  ar: (code) => `رمز التحقق الخاص بك هو: ${code}`,
  ckb: (code) => `کۆدی پشتڕاستکردنەوەت: ${code}`,
  en: (code) => `Your verification code is: ${code}`,
};

/** The text of a verification message on a channel that takes free text. */
export function verificationText(language: Language, code: string): string {
  return WORDING[language](code);
}

/** The free text of a message, which also decides how many sms it is billed as; a template has none. */
export function textOf(language: Language, content: Content): string {
  switch (content.smsType) {
    case 'verification':
      return verificationText(language, content.verificationCode);
    case 'custom':
      return content.customMessage;
    case 'whatsapp-template':
      return '';
    default:
      return content satisfies never;
  }
}
