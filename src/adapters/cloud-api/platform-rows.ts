import { z } from 'zod';
import { toStorableLine } from '../../domain/shared/storable-text.ts';
import type { PlatformPhoneNumber, PlatformTemplate } from '../../domain/whatsapp/merge-account.ts';
import {
  COMPONENT_BUTTONS_MAX,
  COMPONENT_TEXT_CHARACTERS_MAX,
  COMPONENT_URL_CHARACTERS_MAX,
  RESOURCE_TEXT_CHARACTERS_MAX,
  TEMPLATE_COMPONENTS_MAX,
} from '../../domain/whatsapp/text-limits.ts';

/** The first version that names the limit of a number after its portfolio. */
export const PORTFOLIO_LIMIT_VERSION = 24;
export const PORTFOLIO_LIMIT_FIELD = 'whatsapp_business_manager_messaging_limit';
export const NUMBER_LIMIT_FIELD = 'messaging_limit_tier';

const NO_REASON = 'NONE';

const anyText = z.string().max(RESOURCE_TEXT_CHARACTERS_MAX);
/** As every database can store it. */
const text = anyText.transform(toStorableLine);
const requiredText = anyText.min(1).transform(toStorableLine);
/** What an older version, or a number that is new, does not have. */
const said = text.nullish().transform((value) => value ?? null);

/** A number as the platform gives it. */
export const phoneNumberRow = z
  .object({
    id: z.string().regex(/^[0-9]{1,32}$/),
    display_phone_number: text,
    verified_name: said,
    quality_rating: said,
    status: said,
    code_verification_status: said,
    name_status: said,
    is_official_business_account: z
      .boolean()
      .nullish()
      .transform((value) => value ?? null),
    [PORTFOLIO_LIMIT_FIELD]: said,
    [NUMBER_LIMIT_FIELD]: said,
  })
  .transform(
    (given): PlatformPhoneNumber => ({
      phoneNumberId: given.id,
      displayPhoneNumber: given.display_phone_number,
      verifiedName: given.verified_name,
      qualityRating: given.quality_rating,
      messagingLimit: given[PORTFOLIO_LIMIT_FIELD] ?? given[NUMBER_LIMIT_FIELD],
      status: given.status,
      codeVerificationStatus: given.code_verification_status,
      nameStatus: given.name_status,
      isOfficialBusinessAccount: given.is_official_business_account,
    }),
  );

const button = z.looseObject({
  type: text,
  text: text.optional(),
  url: z.string().max(COMPONENT_URL_CHARACTERS_MAX).optional(),
});

const component = z.looseObject({
  type: text,
  format: text.optional(),
  text: z.string().max(COMPONENT_TEXT_CHARACTERS_MAX).optional(),
  buttons: z.array(button).max(COMPONENT_BUTTONS_MAX).optional(),
});

/** A template as the platform gives it. */
export const templateRow = z
  .object({
    name: requiredText,
    language: requiredText,
    category: text,
    status: text,
    parameter_format: said,
    rejected_reason: said,
    message_send_ttl_seconds: z
      .int()
      .nullish()
      .transform((value) => value ?? null),
    components: z.array(component).max(TEMPLATE_COMPONENTS_MAX).default([]),
  })
  .transform(
    (given): PlatformTemplate => ({
      name: given.name,
      language: given.language,
      category: given.category,
      parameterFormat: given.parameter_format,
      status: given.status,
      reason: given.rejected_reason === NO_REASON ? '' : (given.rejected_reason ?? ''),
      messageSendTtlSeconds: given.message_send_ttl_seconds,
      components: given.components,
    }),
  );
