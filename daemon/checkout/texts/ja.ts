// Japanese.
import type { Texts } from './texts.ts';

export const ja: Texts = {
  pay_to: '{merchant} へのお支払い',
  refill_title: 'プリペイド枠の補充',
  direct:
    'お客様のウォレットから {merchant} のウォレットへ直接支払われます。途中で資金を預かる者はいません。',

  waiting: 'お支払いを待っています',
  waiting_text: '時間内に下の金額を送ってください。お支払いが届くと、このページは自動的に更新されます。',
  closing: '時間になりました',
  closing_text: '今は何も送らないでください。時間内に送られたお支払いが届く途中かどうかを確認しています。',
  seen: 'お支払いを検知しました',
  seen_text: '取引が届き、承認を待っています。操作は不要です。このページを閉じてもかまいません。',
  orphaned: '取引が消えました',
  orphaned_text:
    'ネットワークで破棄または置き換えられました。ウォレットを確認し、送金されていなければもう一度お支払いください。',
  underpaid: 'まだ全額が支払われていません',
  underpaid_text: '{received} が届きました。残りは {due} です。時間内に残額を同じアドレスへ送ってください。',
  processing: 'お支払いを受け付け、処理中です',
  processing_text: 'お金は安全です。もう一度支払わないでください。自動で確定し、このページに表示されます。',
  confirmed: 'お支払い済み',
  confirmed_text: '{merchant} がお支払いを受け取りました。このページは領収書として保存できます。',
  overpaid: 'お支払い済み（過払い）',
  overpaid_text:
    '{merchant} がお支払いを受け取りました。{extra} 多く送られています。返金は {merchant} にお問い合わせください。',
  expired: '時間が終了しました',
  expired_text:
    '時間内にお支払いが届きませんでした。このアドレスにはもう送らないでください。お支払いを続ける場合は、{merchant} に戻って新しいお支払いを始めてください。',
  cancelled: 'お支払いを取り消しました',
  cancelled_text:
    'このアドレスには何も送らないでください。購入する場合は、{merchant} に戻って新しいお支払いを始めてください。',
  failed: 'お支払いに失敗しました',
  failed_text:
    'このお支払いは完了できませんでした。このアドレスにはもう何も送らないでください。お支払いを続ける場合は、{merchant} に戻って新しいお支払いを始めてください。',
  late: 'お支払いが遅れて届きました',
  late_text:
    '{received} はこのお支払いの終了後に届いたため、計上されていません。失われてはいません。受け取りまたは返金を {merchant} にお問い合わせください。',
  incomplete: '時間内に全額が支払われませんでした',
  incomplete_text:
    '時間内に届いたのは {amount} のうち {received} だけのため、お支払いは完了していません。資金は失われていません。不足分の支払い方法または返金について {merchant} にお問い合わせください。',
  already_sent:
    'すでに送金された場合も、資金は失われていません。{merchant} に直接届きますので、お問い合わせください。',

  help: 'ご質問は、この支払い番号を添えて {merchant} へお問い合わせください：',
  amount: '金額',
  rest: '残額',
  received: '受取額',
  address: 'アドレス',
  memo: 'メモ（コメント）',
  network: 'ネットワーク',
  order: '注文',
  rate: '為替レート',
  fee: 'サービス料（込み）',
  transaction: '取引',
  paid_at: '支払い日時',
  confirmations: '承認 {n} / {m}',
  time_left: '残り時間',
  pay_before: '{time} までにお支払いください',
  minute_left: '残り1分未満です',

  warn_memo: 'お支払いにこのメモを必ず付けてください。ないと、お客様の支払いだと分かりません。',
  warn_exact:
    'この金額を正確に送ってください。お支払いの識別に使います。ネットワーク手数料は別途かかります。',
  warn_network:
    '{network} ネットワークの {currency} だけを送ってください。それ以外は失われることがあります。',
  warn_direct:
    '{currency} はご自身のウォレットからお支払いください。取引所やスマートコントラクトウォレットからの支払いは認識されないことがあります。',
  compare: '確定する前に、太字の両端をウォレットに表示されるアドレスと見比べてください。',
  testnet: 'テストネットワーク：ここのコインに価値はありません。',
  demo_rate: 'デモ用のレートで、市場価格ではありません。',

  copy: 'コピー',
  copied: 'コピー済み',
  selected: '選択しました。端末の操作でコピーしてください',
  copy_what: 'コピー：{what}',
  open_wallet: 'ウォレットアプリで開く',
  open_in: '{wallet} で開く',
  open_paste: '{wallet} を開いて貼り付ける',
  wallet_hint: '開かない場合は、コードを読み取るか、内容をウォレットにコピーしてください。',
  scan: 'ウォレットで読み取る',
  scan_address:
    'コードに含まれるのはアドレスだけです。残りはご自身で入力してください：{network} ネットワークで {amount}。',
  qr_alt: 'すべての支払い情報を含むQRコード',
  qr_rest: '残額のQRコード',
  qr_address: 'アドレスのQRコード',
  cancel: 'お支払いを取り消す',
  cancel_sure: '何も送っていない場合だけ取り消してください。元に戻せません。',
  cancel_yes: 'はい、取り消します',
  print: '領収書を印刷',
  receipt: '領収書',
  refreshes: 'このページは{n}秒ごとに自動で更新されます。',
  offline: '接続がありません。再試行しています…',
  blind:
    '現在、{network} ネットワークを確認できません。送金済みのお支払いは失われていません。ネットワークを再び確認でき次第、認識されます。',
  simulate_only:
    'シミュレーションのみ：現在、{network} ネットワークを確認できません。何も送らないでください。時間内に検知されません。',
  again: '新しいお支払いを始める',

  choose: 'お支払い方法を選んでください',
  inactive: 'この商品は現在ご利用いただけません。',
  unavailable: '現在利用できません',
  only_simulated: 'シミュレーションのみ',
  no_coins: '現在利用できるお支払い方法がありません。後でもう一度お越しください。',
  try_another: 'この通貨は現在利用できません。別の通貨を選んでください。',
  try_later: '問題が発生しました。1分後にもう一度お試しください。',
  not_found: '見つかりません',
  not_found_text: 'このアドレスには何もありません。受け取ったリンクを確認してください。',

  password_title: '新しいパスワードの設定',
  password_label: '新しいパスワード',
  password_save: 'パスワードを保存',
  password_done: 'パスワードを変更しました。新しいパスワードでログインできます。',
  password_length: 'パスワードは {min} 文字以上 {max} 文字以下にしてください。',
  password_invalid: 'このリンクは期限切れか、すでに使用されています。新しいリンクを請求してください。',
  password_scripts: 'このページには JavaScript が必要です。有効にして再読み込みしてください。',
  recovery_asked:
    'どなたか（おそらくご本人）が {site} のアカウント {email} の新しいパスワードを請求しました。',
  recovery_valid: 'リンクは {n} 時間以内に 1 回だけ使用できます。',
  recovery_ignore: 'お心当たりがない場合は、このメールを無視してください。パスワードは変わりません。',
  email_title: 'メールアドレスの確認',
  email_text: 'ボタンを押して、このメールアドレスがご自身のものであることを確認してください。',
  email_confirm: '確認する',
  email_done: 'メールアドレスを確認しました。',
  email_asked: '{site} のアカウントのアドレスとして {email} が入力されました。',
  email_ignore: 'お心当たりがない場合は、このメールを無視してください。アドレスは使用されません。',
  test_mail_title: 'テストメール',
  test_mail_text: 'このメールは決済ゲートウェイ {site} から送信されました。メールの送信は正常です。',

  claim_open: 'すでに支払いました',
  claim_hint:
    'すぐにネットワークを確認します。ウォレットの取引IDを入力すると、メモがなくてもお支払いを見つけられます。',
  claim_label: '取引ID（任意）',
  claim_check: '今すぐ確認',
  claim_partial: '{amount} が {time} に届きました。請求額より少ない金額です。',
  claim_late: '{amount} が {time} に届きましたが、このお支払いはすでに終了していました。',
  claim_unmatched: '{amount} が {time} に届きましたが、このお支払いと照合できませんでした。',
  claim_memo_missing: 'メモがありません。',
  claim_memo_other: '別のメモが付いています。',
  claim_other_asset: '請求された通貨ではありません。',
  claim_other_network: '別のネットワークで送金されています：{network}。',
  claim_look_alike: '名前が似た別のトークンです。',
  claim_amount_differs: '金額が請求額と異なります。',
  claim_unclear: 'どのお支払いのものか判断できません。',
  claim_noted: '{merchant} に通知しました。このページの支払い番号を添えてお問い合わせください。',
  claim_nothing: 'このお支払いにはまだ何も届いていません。送金済みの場合は取引IDを入力してください。',
  claim_not_found:
    'このお支払いに該当する取引は見つかりませんでした。ウォレットで取引IDを確認するか、数分後にもう一度お試しください。',
  claim_not_an_id: 'これは取引IDではありません。ウォレットの支払い詳細からコピーしてください。',
  claim_not_readable: '現在ネットワークを確認できません。数分後にもう一度お試しください。',
};
