#include "config/synonyms.h"

#include <array>
#include <cctype>

namespace lathe::config {
namespace {

struct Synonyms {
    const char* key;
    const char* words;   ///< between blanks, small letters and digits alone
};

constexpr std::array kSynonyms{
    Synonyms{"run.max_updates", " steps maxsteps numsteps totalsteps trainsteps numtrainingsteps iterations iters maxiters numiterations updates maxiter "},
    Synonyms{"run.epochs", " epoch numepochs nepochs numtrainepochs maxepochs trainepochs "},
    Synonyms{"run.seed", " randomseed randomstate rngseed manualseed "},
    Synonyms{"data.train", " data dataset datadir dataroot datapath traindata traindataset trainpath trainfile trainset path "},
    Synonyms{"data.eval", " val valid validation test valdata valset valpath validationdata testdata evaldata "},
    Synonyms{"data.eval_fraction", " valsplit validationsplit valfraction testsize testsplit holdout split "},
    Synonyms{"data.target", " label labels labelcolumn targetcolumn targets y "},
    Synonyms{"data.features", " columns inputs featurecolumns x "},
    Synonyms{"data.batch_size", " batch batchsize bs trainbatchsize perdevicetrainbatchsize microbatchsize minibatchsize minibatch "},
    Synonyms{"data.loader_threads", " workers numworkers dataloaderworkers dataloadernumworkers loaderworkers "},
    Synonyms{"data.context", " blocksize seqlen seqlength contextlength maxseqlen maxseqlength maxlength sequencelength nctx "},
    Synonyms{"data.image_size", " imgsize inputsize resolution imagesize "},
    Synonyms{"data.augment_flip", " flip horizontalflip randomflip hflip augment augmentation "},
    Synonyms{"model.name", " arch architecture net network modelname modeltype modelkind backbone "},
    Synonyms{"model.hidden", " hiddensize hiddensizes hiddenunits hiddendim units hiddenlayers "},
    Synonyms{"model.width", " dmodel nembd embeddim embeddingdim dim modeldim channelswidth "},
    Synonyms{"model.layers", " nlayer nlayers numlayers depth numhiddenlayers nblocks "},
    Synonyms{"model.heads", " nhead nheads numheads attentionheads numattentionheads "},
    Synonyms{"model.weights", " pretrained init initfrom checkpoint weightsfile pretrainedweights loadweights "},
    Synonyms{"task.num_classes", " classes nclasses numlabels numclass nclass "},
    Synonyms{"task.label_smoothing", " smoothing labelsmooth "},
    Synonyms{"task.loss", " lossfunction criterion lossfn objective "},
    Synonyms{"optimizer.name", " optim optimizer opt optimizertype optimizername "},
    Synonyms{"optimizer.learning_rate", " lr rate baselr maxlr peaklr initiallr learningrate lrinit eta "},
    Synonyms{"optimizer.weight_decay", " wd decay l2 l2penalty regularization weightdecay "},
    Synonyms{"optimizer.beta1", " betas adambeta1 b1 "},
    Synonyms{"optimizer.beta2", " adambeta2 b2 "},
    Synonyms{"optimizer.epsilon", " eps adamepsilon "},
    Synonyms{"optimizer.max_grad_norm", " clip gradclip clipgrad gradientclip gradientclipping gradientclipval clipnorm clipgradnorm gradclipnorm maxnorm gradnorm "},
    Synonyms{"schedule.name", " scheduler lrscheduler schedulertype lrschedulertype lrschedule schedule "},
    Synonyms{"schedule.warmup_updates", " warmup warmupsteps numwarmupsteps warmupiters warmupiterations lrwarmup "},
    Synonyms{"schedule.final_factor", " minlr etamin finallr minlrratio "},
    Synonyms{"schedule.decay_factor", " gamma lrgamma "},
    Synonyms{"schedule.decay_updates", " stepsize decaysteps lrstepsize lrdecayiters "},
    Synonyms{"accumulation.micro_batches", " accumulate gradaccum gradaccumulation accumulationsteps gradientaccumulation gradientaccumulationsteps accumulategradbatches gradaccumsteps accumsteps accum "},
    Synonyms{"precision.mode", " amp fp16 bf16 dtype precision mixedprecision useamp halfprecision "},
    Synonyms{"parallel.device", " gpu gpus cuda accelerator usecuda usegpu "},
    Synonyms{"parallel.ranks", " devices worldsize numgpus nproc nprocpernode numprocesses ngpus "},
    Synonyms{"parallel.determinism", " deterministic reproducible deterministicalgorithms "},
    Synonyms{"evaluation.every", " evalevery evalinterval evalsteps valinterval valevery evalfreq evaluationstrategy evalfrequency valcheckinterval "},
    Synonyms{"evaluation.best_metric", " metric monitor metricforbestmodel bestmetric "},
    Synonyms{"evaluation.patience", " earlystopping earlystoppingpatience earlystop "},
    Synonyms{"evaluation.restore_best", " loadbestmodelatend loadbest restorebestweights "},
    Synonyms{"checkpoint.every", " saveevery saveinterval savesteps savefreq checkpointevery checkpointinterval savefrequency ckptinterval "},
    Synonyms{"checkpoint.keep_last", " savetotallimit keepcheckpoints maxtokeep savetopk keep maxcheckpoints "},
    Synonyms{"telemetry.log_every", " loginterval logevery logsteps loggingsteps logfreq logeverynsteps printevery "},
    Synonyms{"telemetry.tensorboard", " tensorboarddir logdir tb tblogdir "},
};

}  // namespace

std::string synonymOf(std::string_view word) {
    std::string plain = " ";
    for (const char c : word.substr(0, 64))
        if (std::isalnum(static_cast<unsigned char>(c))) plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (plain.size() == 1) return {};
    plain += ' ';
    for (const Synonyms& each : kSynonyms)
        if (std::string_view(each.words).find(plain) != std::string_view::npos) return each.key;
    return {};
}

}  // namespace lathe::config
