// The codes of ISO 4217 that name money one can be billed in, as of January 2026. Written out, since every Node brings a
// list of its own making: the one of Node 20 has currencies that are gone (HRK) and lacks some that are there (VED), and
// a plan must not depend on which machine it was made on. Left out are metals, units of account between banks, and the
// codes for tests and for no currency at all.

const CODES = `
  AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW
  CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL
  HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA
  MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD
  RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD
  USN UYI UYU UYW UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG
`;

// Digits after the point, where they are not 2, from the same standard. `Intl` knows how cash is counted and not what the
// standard says: the one of Node 20 gives no digits to 16 currencies that have 2 or 3 (HUF, IDR, COP, PKR, IQD …).
export const OTHER_DIGITS = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

const DIGITS = new Map(
  CODES.trim()
    .split(/\s+/)
    .map((code) => [code, 2]),
);
for (const [digits, codes] of Object.entries(OTHER_DIGITS)) {
  for (const code of codes.split(' ')) DIGITS.set(code, Number(digits));
}

/** The codes of all currencies that one can be billed in. */
export const CURRENCIES: readonly string[] = [...DIGITS.keys()];

/** Whether a text is the code of a currency that one can be billed in, in upper case. */
export function isCurrency(code: string): boolean {
  return DIGITS.has(code);
}

/** How many digits after the point its amounts have, by ISO 4217. Throws on an unknown currency. */
export function minorDigits(currency: string): number {
  const digits = DIGITS.get(currency);
  if (digits === undefined) throw new Error(`unknown currency: ${currency.slice(0, 40)}`);
  return digits;
}
