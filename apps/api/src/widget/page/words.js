// What the page says, in each of its languages.

const WORDS = {
  en: {
    title: 'Usage',
    loading: 'Loading…',
    again: 'Try again',
    windows: { 7: '7 days', 30: '30 days', 90: '90 days', period: 'Billing period' },
    shown: {
      COUNT: 'in all',
      SUM: 'in all',
      MAX: 'highest',
      MIN: 'lowest',
      AVG: 'on average',
      LAST: 'last',
      UNIQUE_COUNT: 'different ones',
    },
    none: 'none',
    nothing: 'No usage in this time.',
    table: { day: 'Numbers by day', week: 'Numbers by week', month: 'Numbers by month' },
    head: { day: 'Day', week: 'Week from', month: 'Month', usage: 'Usage', total: 'Whole time' },
    chart: 'Bar chart from {first} to {last}. Highest: {amount} on {day}.',
    ofLimit: '{usage} of {limit}',
    left: '{amount} left',
    over: '{amount} over the limit',
    resets: 'begins anew on {day}',
    ended: 'This view has ended: reload the page around it to see your usage again.',
    broken: 'Your usage cannot be shown now: try again in a moment.',
    noToken: 'This page shows usage inside an app, which gives it a token: it has none.',
  },
  de: {
    title: 'Nutzung',
    loading: 'Wird geladen …',
    again: 'Erneut versuchen',
    windows: { 7: '7 Tage', 30: '30 Tage', 90: '90 Tage', period: 'Abrechnungszeitraum' },
    shown: {
      COUNT: 'insgesamt',
      SUM: 'insgesamt',
      MAX: 'höchster Wert',
      MIN: 'niedrigster Wert',
      AVG: 'im Durchschnitt',
      LAST: 'zuletzt',
      UNIQUE_COUNT: 'verschiedene',
    },
    none: 'keine',
    nothing: 'Keine Nutzung in dieser Zeit.',
    table: { day: 'Zahlen nach Tagen', week: 'Zahlen nach Wochen', month: 'Zahlen nach Monaten' },
    head: { day: 'Tag', week: 'Woche ab', month: 'Monat', usage: 'Nutzung', total: 'Gesamte Zeit' },
    chart: 'Balkendiagramm vom {first} bis zum {last}. Höchster Wert: {amount} am {day}.',
    ofLimit: '{usage} von {limit}',
    left: 'noch {amount}',
    over: '{amount} über dem Limit',
    resets: 'beginnt neu am {day}',
    ended: 'Diese Ansicht ist abgelaufen: Laden Sie die Seite neu, um Ihre Nutzung wieder zu sehen.',
    broken: 'Ihre Nutzung kann gerade nicht gezeigt werden: Versuchen Sie es gleich noch einmal.',
    noToken: 'Diese Seite zeigt Nutzung in einer App, die ihr ein Token gibt: Sie hat keines.',
  },
  fr: {
    title: 'Utilisation',
    loading: 'Chargement…',
    again: 'Réessayer',
    windows: { 7: '7 jours', 30: '30 jours', 90: '90 jours', period: 'Période de facturation' },
    shown: {
      COUNT: 'au total',
      SUM: 'au total',
      MAX: 'maximum',
      MIN: 'minimum',
      AVG: 'en moyenne',
      LAST: 'dernière valeur',
      UNIQUE_COUNT: 'distincts',
    },
    none: 'aucune',
    nothing: 'Aucune utilisation sur cette période.',
    table: { day: 'Chiffres par jour', week: 'Chiffres par semaine', month: 'Chiffres par mois' },
    head: { day: 'Jour', week: 'Semaine du', month: 'Mois', usage: 'Utilisation', total: 'Toute la période' },
    chart: 'Histogramme du {first} au {last}. Maximum : {amount} le {day}.',
    ofLimit: '{usage} sur {limit}',
    left: 'reste {amount}',
    over: '{amount} au-delà de la limite',
    resets: 'repart de zéro le {day}',
    ended: 'Cette vue a expiré : rechargez la page pour revoir votre utilisation.',
    broken: 'Votre utilisation ne peut pas être affichée : réessayez dans un instant.',
    noToken: 'Cette page montre l’utilisation dans une application qui lui donne un jeton : elle n’en a pas.',
  },
  es: {
    title: 'Uso',
    loading: 'Cargando…',
    again: 'Reintentar',
    windows: { 7: '7 días', 30: '30 días', 90: '90 días', period: 'Periodo de facturación' },
    shown: {
      COUNT: 'en total',
      SUM: 'en total',
      MAX: 'máximo',
      MIN: 'mínimo',
      AVG: 'de media',
      LAST: 'último valor',
      UNIQUE_COUNT: 'distintos',
    },
    none: 'ninguno',
    nothing: 'No hay uso en este tiempo.',
    table: { day: 'Cifras por día', week: 'Cifras por semana', month: 'Cifras por mes' },
    head: { day: 'Día', week: 'Semana del', month: 'Mes', usage: 'Uso', total: 'Todo el tiempo' },
    chart: 'Gráfico de barras del {first} al {last}. Máximo: {amount} el {day}.',
    ofLimit: '{usage} de {limit}',
    left: 'quedan {amount}',
    over: '{amount} por encima del límite',
    resets: 'empieza de nuevo el {day}',
    ended: 'Esta vista ha caducado: recargue la página para volver a ver su uso.',
    broken: 'Su uso no puede mostrarse ahora: inténtelo de nuevo en un momento.',
    noToken: 'Esta página muestra el uso dentro de una aplicación que le da un token: no tiene ninguno.',
  },
};

/**
 * The language that was asked for, else the first of the reader's that the page speaks. Where the reader's has a region, numbers
 * and dates are written as there.
 */
export function chooseLocale(asked, preferred) {
  const isSpoken = (locale) => locale.slice(0, 2) in WORDS && /^..($|-)/.test(locale);
  if (asked === null) return preferred.find(isSpoken) ?? 'en';
  return preferred.find((locale) => locale.startsWith(`${asked}-`)) ?? asked;
}

export const wordsOf = (locale) => WORDS[locale.slice(0, 2)];

/** Puts values into the places of a text. */
export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}
