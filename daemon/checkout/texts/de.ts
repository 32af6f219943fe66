// German.
import type { Texts } from './texts.ts';

export const de: Texts = {
  pay_to: 'Zahlung an {merchant}',
  refill_title: 'Aufladung des Guthabens',
  direct: 'Sie zahlen direkt an {merchant}, von Wallet zu Wallet. Niemand verwahrt das Geld dazwischen.',

  waiting: 'Wir warten auf Ihre Zahlung',
  waiting_text: 'Diese Seite aktualisiert sich automatisch, sobald Ihre Zahlung eintrifft.',
  closing: 'Die Zeit ist um',
  closing_text: 'Senden Sie jetzt nichts mehr. Wir prüfen noch, ob eine rechtzeitige Zahlung unterwegs ist.',
  seen: 'Zahlung erkannt',
  seen_text:
    'Ihre Transaktion ist da und wird bestätigt. Sie müssen nichts tun und können diese Seite schließen.',
  orphaned: 'Ihre Transaktion ist verschwunden',
  orphaned_text:
    'Das Netzwerk hat sie verworfen oder ersetzt. Prüfen Sie Ihr Wallet: Ist das Geld noch da, zahlen Sie erneut.',
  underpaid: 'Noch nicht vollständig bezahlt',
  underpaid_text:
    '{received} sind angekommen, {due} fehlen noch. Senden Sie den Rest an dieselbe Adresse, bevor die Zeit abläuft.',
  processing: 'Zahlung erhalten, wird bearbeitet',
  processing_text:
    'Ihr Geld ist sicher. Zahlen Sie nicht noch einmal: Die Zahlung wird automatisch bestätigt, und diese Seite zeigt es an.',
  confirmed: 'Bezahlt',
  confirmed_text: '{merchant} hat Ihre Zahlung erhalten. Sie können diese Seite als Beleg aufbewahren.',
  overpaid: 'Bezahlt, aber zu viel',
  overpaid_text:
    '{merchant} hat Ihre Zahlung erhalten. Sie haben {extra} zu viel gesendet: Bitten Sie {merchant} um Rückgabe.',
  expired: 'Die Zeit ist abgelaufen',
  expired_text:
    'Es kam keine Zahlung rechtzeitig an. Senden Sie nichts mehr an diese Adresse. Möchten Sie doch zahlen, gehen Sie zurück zu {merchant} und beginnen Sie eine neue Zahlung.',
  cancelled: 'Zahlung abgebrochen',
  cancelled_text:
    'Senden Sie nichts mehr an diese Adresse. Möchten Sie doch kaufen, gehen Sie zurück zu {merchant} und beginnen Sie eine neue Zahlung.',
  failed: 'Zahlung fehlgeschlagen',
  failed_text:
    'Diese Zahlung konnte nicht abgeschlossen werden. Senden Sie nichts mehr an diese Adresse. Möchten Sie doch zahlen, gehen Sie zurück zu {merchant} und beginnen Sie eine neue Zahlung.',
  late: 'Ihre Zahlung kam zu spät',
  late_text:
    '{received} kamen nach dem Ende dieser Zahlung an und wurden nicht gebucht. Sie sind nicht verloren: Bitten Sie {merchant}, sie anzunehmen oder zurückzugeben.',
  incomplete: 'Nicht rechtzeitig ganz bezahlt',
  incomplete_text:
    'Nur {received} von {amount} kamen rechtzeitig an, die Zahlung wurde daher nicht abgeschlossen. Das Geld ist nicht verloren: Fragen Sie {merchant}, wie der Rest zu zahlen ist, oder bitten Sie um Rückgabe.',
  already_sent:
    'Haben Sie schon etwas gesendet, ist es nicht verloren: Es geht direkt an {merchant}. Fragen Sie dort nach.',

  help: 'Fragen? Wenden Sie sich mit dieser Zahlungsnummer an {merchant}:',
  amount: 'Betrag',
  rest: 'Noch offen',
  received: 'Erhalten',
  address: 'Adresse',
  memo: 'Memo (Kommentar)',
  network: 'Netzwerk',
  order: 'Bestellung',
  rate: 'Wechselkurs',
  fee: 'Servicegebühr, enthalten',
  transaction: 'Transaktion',
  paid_at: 'Bezahlt am',
  confirmations: '{n} von {m} Bestätigungen',
  time_left: 'Verbleibende Zeit',
  pay_before: 'Zahlbar bis {time}',
  minute_left: 'Noch weniger als eine Minute',

  warn_memo:
    'Geben Sie dieses Memo an, wenn Sie die Zahlung von Hand eingeben: Ohne es weiß niemand, dass das Geld von Ihnen kommt. Code und Knöpfe enthalten es schon.',
  warn_exact: 'Senden Sie genau diesen Betrag: Er kennzeichnet Ihre Zahlung. Netzwerkgebühren kommen hinzu.',
  warn_network: 'Senden Sie nur {currency} im Netzwerk {network}. Alles andere kann verloren gehen.',
  warn_direct:
    'Zahlen Sie {currency} aus Ihrem eigenen Wallet: Zahlungen von Börsen und Smart-Contract-Wallets werden womöglich nicht erkannt.',
  compare: 'Vergleichen Sie vor dem Bestätigen die fett gedruckten Enden mit der Adresse in Ihrem Wallet.',
  testnet: 'Testnetz: Diese Münzen haben keinen Wert.',
  demo_rate: 'Demo-Wechselkurs, kein Marktpreis.',

  copy: 'Kopieren',
  copied: 'Kopiert',
  selected: 'Markiert: Kopieren Sie es mit Ihrem Gerät',
  copy_what: 'Kopieren: {what}',
  open_wallet: 'In der Wallet-App öffnen',
  wallet_hint: 'Es öffnet sich nichts? Scannen Sie den Code oder kopieren Sie die Angaben in Ihr Wallet.',
  scan: 'Scannen Sie den Code mit Ihrer Wallet-App und bestätigen Sie {amount}.',
  scan_address:
    'Der Code enthält nur die Adresse. Geben Sie den Rest selbst ein: {amount} im Netzwerk {network}.',
  qr_alt: 'QR-Code mit allen Angaben zur Zahlung',
  qr_rest: 'QR-Code für den Rest',
  qr_address: 'QR-Code der Adresse',
  cancel: 'Zahlung abbrechen',
  cancel_sure: 'Brechen Sie nur ab, wenn Sie noch nichts gesendet haben. Das ist endgültig.',
  cancel_yes: 'Ja, diese Zahlung abbrechen',
  print: 'Beleg drucken',
  receipt: 'Beleg',
  refreshes: 'Diese Seite wird alle {n} Sekunden automatisch neu geladen.',
  offline: 'Keine Verbindung. Neuer Versuch …',
  blind:
    'Wir sehen das Netzwerk {network} gerade nicht. Was Sie gesendet haben, ist nicht verloren: Es wird erkannt, sobald wir das Netzwerk wieder sehen.',
  simulate_only:
    'Nur simulieren: Das Netzwerk {network} ist gerade nicht zu sehen. Senden Sie nichts: Es würde nicht rechtzeitig bemerkt.',
  again: 'Neue Zahlung beginnen',

  return_to: 'Zurück zu {merchant}',
  return_soon: 'Sie werden in wenigen Sekunden zu {merchant} zurückgeleitet.',
  stay: 'Auf dieser Seite bleiben',
  explorer: 'Ansehen auf {host}',
  receipt_number: 'Zahlungsnummer',
  receipt_from: 'Beleg von {merchant}',
  receipt_mail: '{merchant} hat Ihre Zahlung über {usd} erhalten.',
  item: 'Bezahlt wurde',
  total: 'Summe',
  landing_text:
    '{name} nimmt für Shops Zahlungen in Krypto an. Käufer zahlen direkt an den Shop, von Wallet zu Wallet: Niemand verwahrt das Geld dazwischen.',
  landing_buyer: 'Sie möchten bezahlen? Öffnen Sie den Link, den Sie vom Shop erhalten haben.',
  landing_up: 'Alles funktioniert',
  landing_down: 'Manche Zahlungen können länger dauern als sonst',
  landing_docs: 'Dokumentation für Entwickler',
  landing_reference: 'API-Referenz',
  landing_agents: 'Für Agenten und Sprachmodelle',
  pay_with: 'Mit {wallet} bezahlen',
  formerly: 'früher {name}',
  other_wallets: 'Andere Wallets',
  by_hand: 'Von Hand bezahlen',
  usual_time: 'Das dauert meist {time}.',
  time_seconds: 'wenige Sekunden',
  time_minute: 'etwa eine Minute',
  time_minutes: 'etwa {time}',
  time_range: '{n} bis {time}',
  fee_about: 'Gebühr etwa {usd}',
  no_rate: 'Zurzeit kein Wechselkurs',
  another_way: 'Anders bezahlen',
  another_sent:
    'Wenn Sie {currency} schon gesendet haben, zahlen Sie nicht noch einmal: Ihre Zahlung wird erkannt.',
  another_back: 'Bei {currency} bleiben',
  rest_code: 'Code und Knöpfe verlangen jetzt nur noch den Rest.',
  open_page: 'Zahlungsseite öffnen',
  close: 'Schließen',

  choose: 'Wie möchten Sie bezahlen?',
  inactive: 'Dieses Angebot ist derzeit nicht verfügbar.',
  unavailable: 'Derzeit nicht verfügbar',
  only_simulated: 'Nur simulieren',
  no_coins: 'Derzeit ist keine Zahlungsart verfügbar. Bitte versuchen Sie es später noch einmal.',
  try_another: 'Mit dieser Währung können Sie gerade nicht bezahlen. Bitte wählen Sie eine andere.',
  try_later: 'Das hat nicht geklappt. Bitte versuchen Sie es in einer Minute noch einmal.',
  not_found: 'Nicht gefunden',
  not_found_text: 'Unter dieser Adresse gibt es nichts. Prüfen Sie den Link, den Sie erhalten haben.',

  password_title: 'Neues Passwort festlegen',
  password_label: 'Neues Passwort',
  password_save: 'Passwort speichern',
  password_done: 'Ihr Passwort wurde geändert. Sie können sich jetzt damit anmelden.',
  password_length: 'Das Passwort muss {min} bis {max} Zeichen lang sein.',
  password_invalid: 'Dieser Link ist abgelaufen oder wurde schon benutzt. Fordern Sie einen neuen an.',
  password_scripts: 'Diese Seite benötigt JavaScript. Schalten Sie es ein und laden Sie die Seite neu.',
  recovery_asked:
    'Jemand, vermutlich Sie, hat ein neues Passwort für das Konto {email} bei {site} angefordert.',
  recovery_valid: 'Der Link funktioniert einmal und ist {n} Stunden lang gültig.',
  recovery_ignore: 'Waren Sie es nicht, ignorieren Sie diese E-Mail: Ihr Passwort bleibt unverändert.',
  email_title: 'E-Mail-Adresse bestätigen',
  email_text: 'Bestätigen Sie mit der Schaltfläche, dass diese E-Mail-Adresse Ihnen gehört.',
  email_confirm: 'Bestätigen',
  email_done: 'Ihre E-Mail-Adresse ist bestätigt.',
  email_asked: 'Jemand, vermutlich Sie, hat {email} als Adresse eines Kontos bei {site} angegeben.',
  email_ignore: 'Waren Sie es nicht, ignorieren Sie diese E-Mail: Die Adresse wird nicht verwendet.',
  test_mail_title: 'Test-E-Mail',
  test_mail_text:
    'Diese E-Mail hat das Zahlungsgateway unter {site} gesendet. Der E-Mail-Versand funktioniert.',

  claim_open: 'Ich habe schon bezahlt',
  claim_hint:
    'Wir prüfen das Netzwerk sofort. Mit der Transaktions-ID aus Ihrer Wallet finden wir Ihre Zahlung auch ohne Memo.',
  claim_label: 'Transaktions-ID (optional)',
  claim_check: 'Jetzt prüfen',
  claim_partial: '{amount} sind am {time} angekommen. Das ist weniger als verlangt.',
  claim_late: '{amount} sind am {time} angekommen, nachdem diese Zahlung beendet war.',
  claim_unmatched: '{amount} sind am {time} angekommen, konnten dieser Zahlung aber nicht zugeordnet werden.',
  claim_memo_missing: 'Das Memo fehlt.',
  claim_memo_other: 'Die Zahlung trägt ein anderes Memo.',
  claim_other_asset: 'Es ist nicht die verlangte Währung.',
  claim_other_network: 'Die Zahlung kam über ein anderes Netzwerk: {network}.',
  claim_look_alike: 'Es ist ein anderer Token mit ähnlichem Namen.',
  claim_amount_differs: 'Der Betrag ist nicht der verlangte.',
  claim_unclear: 'Es ist nicht klar, für welche Zahlung das Geld gedacht war.',
  claim_noted:
    '{merchant} ist informiert. Wenden Sie sich dorthin und nennen Sie die Zahlungsnummer auf dieser Seite.',
  claim_nothing:
    'Für diese Zahlung ist bisher nichts angekommen. Wenn Sie sie gesendet haben, geben Sie die Transaktions-ID ein.',
  claim_not_found:
    'Zu dieser Zahlung wurde keine solche Transaktion gefunden. Prüfen Sie die ID in Ihrer Wallet, oder versuchen Sie es in einigen Minuten erneut.',
  claim_not_an_id: 'Das ist keine Transaktions-ID. Kopieren Sie sie aus den Zahlungsdetails in Ihrer Wallet.',
  claim_not_readable:
    'Wir können das Netzwerk gerade nicht prüfen. Bitte versuchen Sie es in einigen Minuten erneut.',
};
