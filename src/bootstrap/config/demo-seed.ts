import { DEMO_CREDIT_IQD } from '../../domain/billing/demo-credit.ts';
import { DEFAULT_SEED_SETTINGS, type SeedFile } from './seed-file.ts';

export const DEMO_API_KEY = 'sk_dev_0123456789abcdef0123456789abcdef01234567';

/** The seed of an empty database when no seed file is named; every default is written out. */
export const DEMO_SEED: SeedFile = {
  projects: [
    {
      name: 'Demo',
      slug: 'demo',
      environment: 'dev',
      apiKeys: [DEMO_API_KEY],
      paymentType: 'prepaid',
      credit: DEMO_CREDIT_IQD,
      spendingThreshold: null,
      trial: null,
      ...DEFAULT_SEED_SETTINGS,
      senderIds: [
        {
          senderId: 'Barid',
          status: 'accepted',
          pricePerSms: { korekTelecom: 80, asiaCell: 80, zainIraq: 80, others: 100 },
        },
      ],
      whatsapp: {
        businesses: [
          {
            id: '664def456abc789012345601',
            businessId: '104512345678901',
            name: 'Demo Trading',
            whatsappAccounts: [
              {
                id: '664def456abc789012345602',
                whatsappBusinessId: '104512345678902',
                name: 'Demo',
                phoneNumbers: [
                  {
                    id: '664def456abc789012345678',
                    phoneNumberId: '104512345678903',
                    displayPhoneNumber: '+964 770 000 0000',
                    phoneNumber: '+9647700000000',
                    verifiedName: 'Demo',
                  },
                ],
                templates: [
                  {
                    id: '664def456abc789012345603',
                    name: 'order_update',
                    category: 'UTILITY',
                    components: [
                      { type: 'BODY', text: 'Hello {{1}}, your order {{2}} is on its way.' },
                      {
                        type: 'BUTTONS',
                        buttons: [{ type: 'URL', text: 'Track', url: 'https://example.com/{{1}}' }],
                      },
                    ],
                  },
                  {
                    id: '664def456abc789012345604',
                    name: 'login_code',
                    category: 'AUTHENTICATION',
                    components: [{ type: 'BODY', text: 'Your code is {{1}}.' }],
                  },
                ],
              },
            ],
          },
        ],
      },
    },
  ],
  prices: {
    sms: { korekTelecom: 80, asiaCell: 80, zainIraq: 80, others: 100 },
    whatsapp: { AUTHENTICATION: 60, UTILITY: 60, MARKETING: 90 },
    telegram: 40,
    international: [
      {
        continent: 'Asia',
        countryIso: 'TR',
        countryCode: '90',
        country: 'Turkey',
        networkId: 'tr_all',
        network: 'All networks',
        mccMnc: '28601',
        price: 120,
      },
    ],
  },
};
