// French.
import type { Texts } from './texts.ts';

export const fr: Texts = {
  pay_to: 'Paiement à {merchant}',
  refill_title: 'Recharge du solde prépayé',
  direct:
    'Vous payez directement {merchant}, de votre portefeuille au sien. Personne ne détient l’argent entre-temps.',

  waiting: 'En attente de votre paiement',
  waiting_text: 'Cette page se met à jour automatiquement dès que votre paiement arrive.',
  closing: 'Le délai est écoulé',
  closing_text:
    'N’envoyez plus rien maintenant. Nous vérifions encore si un paiement envoyé à temps est en route.',
  seen: 'Paiement détecté',
  seen_text:
    'Votre paiement est arrivé et est en cours de confirmation. Vous n’avez rien d’autre à faire : vous pouvez fermer cette page.',
  orphaned: 'Votre transaction n’a pas abouti',
  orphaned_text:
    'Le réseau l’a rejetée ou remplacée. Vérifiez votre portefeuille : si l’argent y est toujours, payez à nouveau.',
  underpaid: 'Payé en partie',
  underpaid_text: 'Montant reçu : {received}. Envoyez encore {due} à la même adresse avant la fin du délai.',
  processing: 'Paiement reçu, en cours de traitement',
  processing_text:
    'Votre argent est en sécurité. Ne payez pas une seconde fois : votre paiement sera confirmé automatiquement et cette page se mettra à jour.',
  confirmed: 'Payé',
  confirmed_text: '{merchant} a reçu votre paiement. Vous pouvez conserver cette page comme reçu.',
  overpaid: 'Payé, avec un trop-perçu',
  overpaid_text:
    '{merchant} a reçu votre paiement. Vous avez envoyé {extra} de trop : demandez à {merchant} de vous rembourser la différence.',
  expired: 'Paiement expiré',
  expired_text:
    'Aucun paiement n’est arrivé à temps. N’envoyez rien à cette adresse. Si vous souhaitez toujours payer, retournez sur le site de {merchant} et recommencez.',
  cancelled: 'Paiement annulé',
  cancelled_text:
    'N’envoyez rien à cette adresse. Si vous souhaitez toujours payer, retournez sur le site de {merchant} et recommencez.',
  failed: 'Le paiement a échoué',
  failed_text:
    'Ce paiement n’a pas pu aboutir. N’envoyez rien à cette adresse. Si vous souhaitez toujours payer, retournez sur le site de {merchant} et recommencez.',
  late: 'Votre paiement est arrivé trop tard',
  late_text:
    'Montant arrivé après la fin de ce paiement, et donc non pris en compte : {received}. Votre argent n’est pas perdu : demandez à {merchant} de l’accepter ou de vous le renvoyer.',
  incomplete: 'Paiement incomplet',
  incomplete_text:
    'Montant arrivé à temps : {received} sur {amount}. Ce paiement n’a donc pas abouti. Votre argent n’est pas perdu : demandez à {merchant} comment payer le reste, ou un remboursement.',
  already_sent:
    'Si vous avez déjà envoyé de l’argent, il n’est pas perdu : il va directement à {merchant}. Contactez-les à ce sujet.',

  help: 'Une question ? Contactez {merchant} en indiquant ce numéro de paiement :',
  amount: 'Montant',
  rest: 'Reste à payer',
  received: 'Reçu',
  address: 'Adresse',
  memo: 'Mémo (commentaire)',
  network: 'Réseau',
  order: 'Commande',
  rate: 'Taux de change',
  fee: 'Frais de service (inclus)',
  transaction: 'Transaction',
  paid_at: 'Payé le',
  confirmations: 'Confirmations : {n}\u00a0sur\u00a0{m}',
  time_left: 'Temps restant',
  pay_before: 'À payer avant : {time}',
  minute_left: 'Il reste moins d’une minute',

  warn_memo:
    'Si vous saisissez le paiement manuellement, ajoutez ce mémo. Sans lui, rien n’indique que le paiement vient de vous. Le code QR et les boutons le contiennent déjà.',
  warn_exact:
    'Envoyez exactement ce montant : il identifie votre paiement. Les frais de réseau sont en plus.',
  warn_network:
    'Envoyez uniquement {currency} sur le réseau {network}. Tout autre envoi risque d’être perdu.',
  warn_direct:
    'Payez en {currency} depuis votre propre portefeuille : les paiements venant de plateformes d’échange ou de portefeuilles à contrat intelligent risquent de ne pas être reconnus.',
  compare:
    'Avant de confirmer, vérifiez que les caractères en gras correspondent à l’adresse affichée dans votre portefeuille.',
  testnet: 'Réseau de test : ces cryptomonnaies n’ont aucune valeur.',
  demo_rate: 'Taux de démonstration, pas un cours du marché.',

  copy: 'Copier',
  copied: 'Copié',
  selected: 'Sélectionné : copiez-le maintenant',
  copy_what: 'Copier : {what}',
  open_wallet: 'Ouvrir le portefeuille',
  wallet_hint:
    'Rien ne s’est ouvert ? Scannez le code QR ou copiez les informations dans votre portefeuille.',
  scan: 'Scannez le code QR avec votre portefeuille, puis confirmez {amount}.',
  scan_address:
    'Ce code QR ne contient que l’adresse. Saisissez le reste vous-même : {amount} sur le réseau {network}.',
  qr_alt: 'Code QR avec toutes les informations de paiement',
  qr_rest: 'Code QR pour le montant restant',
  qr_address: 'Code QR avec l’adresse',
  cancel: 'Annuler le paiement',
  cancel_sure: 'N’annulez que si vous n’avez rien envoyé. Cette action est irréversible.',
  cancel_yes: 'Oui, annuler ce paiement',
  print: 'Imprimer le reçu',
  receipt: 'Reçu',
  refreshes: 'Cette page s’actualise automatiquement toutes les {n} secondes.',
  offline: 'Pas de connexion. Nouvelle tentative…',
  blind:
    'Le réseau {network} est injoignable pour le moment. Si vous avez déjà payé, votre argent n’est pas perdu : votre paiement sera détecté dès que le réseau sera de nouveau joignable.',
  simulate_only:
    'Simulation uniquement : le réseau {network} est injoignable pour le moment. N’envoyez rien : nous ne le détecterions pas à temps.',
  again: 'Commencer un nouveau paiement',

  return_to: 'Retourner chez {merchant}',
  return_soon: 'Vous allez être redirigé vers {merchant} dans quelques secondes.',
  stay: 'Rester sur cette page',
  explorer: 'Voir sur {host}',
  receipt_number: 'Numéro de paiement',
  receipt_from: 'Reçu de {merchant}',
  receipt_mail: '{merchant} a reçu votre paiement de {usd}.',
  item: 'Description',
  total: 'Total',
  landing_text:
    '{name} permet aux boutiques d’accepter les paiements en cryptomonnaie. L’acheteur paie directement la boutique, de portefeuille à portefeuille : personne ne détient l’argent entre-temps.',
  landing_buyer: 'Vous souhaitez payer ? Ouvrez le lien fourni par la boutique.',
  landing_up: 'Tous les systèmes sont opérationnels',
  landing_down: 'Certains paiements peuvent prendre plus de temps que d’habitude',
  landing_docs: 'Documentation pour les développeurs',
  landing_reference: 'Référence de l’API',
  landing_agents: 'Pour les agents IA',
  pay_with: 'Payer avec {wallet}',
  wallet_confirm: 'Confirmez le paiement dans {wallet}.',
  wallet_again:
    'Le paiement est resté ouvert trop longtemps dans {wallet} et le réseau ne l’accepte plus. Il vous sera redemandé dans un instant.',
  wallet_sent: '{wallet} a envoyé le paiement. Il apparaîtra ici dans un instant.',
  wallet_declined: 'Vous n’avez pas confirmé le paiement dans {wallet}. Rien n’a été envoyé.',
  wallet_network: '{wallet} est réglé sur un autre réseau. Changez‑le dans le portefeuille, puis réessayez.',
  wallet_cannot: 'Ce compte ne contient pas assez pour le paiement et les frais de réseau.',
  wallet_failed: '{wallet} n’a pas pu effectuer le paiement. Réessayez ou payez autrement.',
  formerly: 'anciennement {name}',
  other_wallets: 'Autres portefeuilles',
  by_hand: 'Payer manuellement',
  usual_time: 'Cela prend en général {time}.',
  time_second: 'environ une seconde',
  time_seconds: 'quelques secondes',
  time_minute: 'environ une minute',
  time_minutes: 'environ {time}',
  time_range: '{n} à {time}',
  fee_about: 'frais d’environ {usd}',
  no_rate: 'Taux de change indisponible pour le moment',
  another_way: 'Payer autrement',
  another_sent:
    'Si vous avez déjà envoyé des {currency}, ne payez pas une seconde fois : votre paiement sera reconnu.',
  another_back: 'Continuer avec {currency}',
  rest_code: 'Le code QR et les boutons ci-dessous ne demandent plus que le montant restant.',
  open_page: 'Ouvrir la page de paiement',
  close: 'Fermer',

  choose: 'Comment souhaitez-vous payer ?',
  inactive: 'Cette offre n’est pas disponible pour le moment.',
  unavailable: 'Indisponible pour le moment',
  only_simulated: 'Simulation uniquement',
  no_coins: 'Aucun moyen de paiement n’est disponible pour le moment. Veuillez revenir plus tard.',
  try_another: 'Vous ne pouvez pas payer avec cette devise pour le moment. Veuillez en choisir une autre.',
  try_later: 'Une erreur s’est produite. Veuillez réessayer dans une minute.',
  try_then: 'Vous ne pouvez pas payer ici pour le moment. Veuillez réessayer {time}.',
  too_many_open:
    'Trop de paiements sont ouverts ici. Réglez ou annulez l’un des vôtres, choisissez une autre devise ou réessayez {time}.',
  not_found: 'Page introuvable',
  not_found_text: 'Vérifiez le lien que vous avez reçu ou demandez-en un nouveau à la boutique.',
  withheld_text:
    'Cette page n’affiche plus les détails de cette commande. Si vous en avez besoin, demandez‑les à la boutique.',

  password_title: 'Définir un nouveau mot de passe',
  password_label: 'Nouveau mot de passe',
  password_save: 'Enregistrer le mot de passe',
  password_done: 'Votre mot de passe a été modifié. Vous pouvez maintenant l’utiliser pour vous connecter.',
  password_length: 'Le mot de passe doit contenir de {min} à {max} caractères.',
  password_invalid: 'Ce lien a expiré ou a déjà été utilisé. Demandez-en un nouveau.',
  password_scripts: 'Cette page nécessite JavaScript. Activez-le, puis rechargez la page.',
  recovery_asked:
    'Quelqu’un (probablement vous) a demandé un nouveau mot de passe pour le compte {email} sur {site}.',
  recovery_valid: 'Ce lien ne fonctionne qu’une fois et expire au bout de {n} heures.',
  recovery_ignore: 'Si ce n’était pas vous, ignorez cet e-mail. Votre mot de passe ne changera pas.',
  email_title: 'Confirmez votre adresse e-mail',
  email_text: 'Cliquez sur le bouton pour confirmer que cette adresse e-mail est la vôtre.',
  email_confirm: 'Confirmer',
  email_done: 'Votre adresse e-mail a été confirmée.',
  email_asked: 'Quelqu’un (probablement vous) a indiqué {email} comme adresse d’un compte sur {site}.',
  email_ignore: 'Si ce n’était pas vous, ignorez cet e-mail. L’adresse ne sera pas utilisée.',
  changed_title: 'Votre compte a été modifié',
  changed_email:
    'L’adresse e-mail du compte {email} sur {site} a été remplacée par une autre. Toutes les sessions sont terminées.',
  changed_password:
    'Le mot de passe du compte {email} sur {site} a été modifié. Toutes les sessions sont terminées.',
  changed_key: 'La clé d’API du compte {email} sur {site} a été remplacée.',
  changed_alarm: 'Si ce n’était pas vous, contactez immédiatement l’exploitant de {site}.',
  test_mail_title: 'E-mail de test',
  test_mail_text:
    'Cet e-mail a été envoyé par la passerelle de paiement {site}. L’envoi d’e-mails fonctionne.',

  claim_open: 'J’ai déjà payé',
  claim_hint:
    'Nous vérifions le réseau immédiatement. Ajoutez l’identifiant de transaction affiché dans votre portefeuille : nous pourrons retrouver votre paiement même sans son mémo.',
  claim_label: 'Identifiant de transaction (facultatif)',
  claim_check: 'Vérifier maintenant',
  claim_partial: 'Reçu le {time} : {amount}. C’est moins que le montant dû.',
  claim_late: 'Reçu le {time}, après la fin de ce paiement : {amount}.',
  claim_unmatched: 'Reçu le {time} : {amount}. Nous n’avons pas pu rattacher ce montant à ce paiement.',
  claim_memo_missing: 'Le mémo est absent.',
  claim_memo_other: 'Le mémo est différent.',
  claim_other_asset: 'Ce n’est pas la devise demandée.',
  claim_other_network: 'L’envoi a été effectué sur un autre réseau : {network}.',
  claim_look_alike: 'C’est un autre jeton au nom similaire.',
  claim_amount_differs: 'Le montant ne correspond pas au montant dû.',
  claim_unclear: 'Impossible de savoir à quel paiement il était destiné.',
  claim_noted:
    '{merchant} en a été informé. Contactez-les en indiquant le numéro de paiement affiché sur cette page.',
  claim_nothing:
    'Rien n’est encore arrivé pour ce paiement. Si vous l’avez envoyé, saisissez l’identifiant de transaction.',
  claim_not_found:
    'Nous n’avons pas trouvé cette transaction pour ce paiement. Vérifiez l’identifiant dans votre portefeuille ou réessayez dans quelques minutes.',
  claim_not_an_id:
    'Ce n’est pas un identifiant de transaction. Copiez-le depuis les détails du paiement dans votre portefeuille.',
  claim_not_readable:
    'Nous ne pouvons pas vérifier le réseau pour le moment. Veuillez réessayer dans quelques minutes.',
};
