import { z } from 'zod';
import { TEMPLATE_CATEGORIES } from '../domain/billing/pricing.ts';

const TEXT_CHARACTERS_MAX = 500;

/** Our own ids. */
export const id24 = z.string().regex(/^[0-9a-f]{24}$/, 'must be 24 lower-case hex characters');
/** A line of text that no rule of ours applies to. */
export const text = z.string().max(TEXT_CHARACTERS_MAX);
const since = text.default('2024-01-01T00:00:00.000Z');

const template = z.strictObject({
  id: id24,
  name: text,
  category: z.enum(TEMPLATE_CATEGORIES),
  parameter_format: text.default('POSITIONAL'),
  language: text.default('en'),
  status: text.default('APPROVED'),
  reason: text.default(''),
  messageSendTtlSeconds: z.number().int().default(600),
  isWhatsappFlow: z.boolean().default(false),
  createdAt: since,
  components: z
    .array(
      z.looseObject({
        type: text,
        format: text.optional(),
        text: z.string().max(5_000).optional(),
        buttons: z
          .array(z.looseObject({ type: text, text: text.optional(), url: z.string().max(2_000).optional() }))
          .optional(),
      }),
    )
    .default([]),
});

const whatsappPhoneNumber = z.strictObject({
  id: id24,
  phoneNumberId: text,
  displayPhoneNumber: text,
  phoneNumber: text,
  verifiedName: text.default(''),
  qualityRating: text.default('GREEN'),
  messagingLimit: text.default('TIER_1K'),
  status: text.default('CONNECTED'),
  codeVerificationStatus: text.default('VERIFIED'),
  nameStatus: text.default('APPROVED'),
  isOfficialBusinessAccount: z.boolean().default(false),
  createdAt: since,
});

const whatsappAccount = z.strictObject({
  id: id24,
  whatsappBusinessId: text,
  name: text,
  accountReviewStatus: text.default('APPROVED'),
  businessVerificationStatus: text.default('verified'),
  banState: text.default(''),
  banDate: text.default(''),
  violationType: text.default(''),
  createdAt: since,
  phoneNumbers: z.array(whatsappPhoneNumber).default([]),
  templates: z.array(template).default([]),
});

const business = z.strictObject({
  id: id24,
  businessId: text,
  name: text,
  createdAt: since,
  whatsappAccounts: z.array(whatsappAccount).default([]),
});

/** The whatsapp resources of a project (specification 2.7); what a platform says of them has a default. */
export const whatsappTree = z.strictObject({ businesses: z.array(business) });
