export const BENCH_API_KEY = 'sk_dev_00112233445566778899aabbccddeeff00112233';

const RICH_IQD = 1_000_000_000;

/** One project with that credit in IQD, else one that can afford everything, with the ordinary limits. */
export function benchSeed(credit = RICH_IQD) {
  const prices = { korekTelecom: 80, asiaCell: 80, zainIraq: 80, others: 100 };
  return {
    projects: [
      {
        name: 'Bench',
        slug: 'bench',
        environment: 'dev',
        apiKeys: [BENCH_API_KEY],
        credit: Number(credit),
      },
    ],
    prices: { sms: prices, whatsapp: { AUTHENTICATION: 60, UTILITY: 60, MARKETING: 90 }, telegram: 40 },
  };
}
